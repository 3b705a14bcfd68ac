package lastapplied

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// serverDefaults are what the API server writes into fields that nobody set
// (SetDefaults_* of k8s.io/kubernetes/pkg/apis). The schema has few of them, and
// whoever creates an object with kubectl create owns them all. "a|b" are two
// defaults, the server chooses by other fields.
var serverDefaults = map[string]string{
	"admissionregistration.v1.MatchResources.matchPolicy":                       `"Equivalent"`,
	"admissionregistration.v1.MatchResources.namespaceSelector":                 `{}`,
	"admissionregistration.v1.MatchResources.objectSelector":                    `{}`,
	"admissionregistration.v1.MutatingWebhook.failurePolicy":                    `"Fail"`,
	"admissionregistration.v1.MutatingWebhook.matchPolicy":                      `"Equivalent"`,
	"admissionregistration.v1.MutatingWebhook.namespaceSelector":                `{}`,
	"admissionregistration.v1.MutatingWebhook.objectSelector":                   `{}`,
	"admissionregistration.v1.MutatingWebhook.reinvocationPolicy":               `"Never"`,
	"admissionregistration.v1.MutatingWebhook.timeoutSeconds":                   `10`,
	"admissionregistration.v1.ServiceReference.port":                            `443`,
	"admissionregistration.v1.ValidatingAdmissionPolicySpec.failurePolicy":      `"Fail"`,
	"admissionregistration.v1.ValidatingWebhook.failurePolicy":                  `"Fail"`,
	"admissionregistration.v1.ValidatingWebhook.matchPolicy":                    `"Equivalent"`,
	"admissionregistration.v1.ValidatingWebhook.namespaceSelector":              `{}`,
	"admissionregistration.v1.ValidatingWebhook.objectSelector":                 `{}`,
	"admissionregistration.v1.ValidatingWebhook.timeoutSeconds":                 `10`,
	"admissionregistration.v1.NamedRuleWithOperations.scope":                    `"*"`,
	"admissionregistration.v1.RuleWithOperations.scope":                         `"*"`,
	"apps.v1.DaemonSetSpec.revisionHistoryLimit":                                `10`,
	"apps.v1.DaemonSetUpdateStrategy.type":                                      `"RollingUpdate"`,
	"apps.v1.DeploymentSpec.progressDeadlineSeconds":                            `600`,
	"apps.v1.DeploymentSpec.replicas":                                           `1`,
	"apps.v1.DeploymentSpec.revisionHistoryLimit":                               `10`,
	"apps.v1.DeploymentStrategy.type":                                           `"RollingUpdate"`,
	"apps.v1.ReplicaSetSpec.replicas":                                           `1`,
	"apps.v1.RollingUpdateDaemonSet.maxSurge":                                   `0`,
	"apps.v1.RollingUpdateDaemonSet.maxUnavailable":                             `1`,
	"apps.v1.RollingUpdateDeployment.maxSurge":                                  `"25%"`,
	"apps.v1.RollingUpdateDeployment.maxUnavailable":                            `"25%"`,
	"apps.v1.RollingUpdateStatefulSetStrategy.maxUnavailable":                   `1`,
	"apps.v1.RollingUpdateStatefulSetStrategy.partition":                        `0`,
	"apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy.whenDeleted":       `"Retain"`,
	"apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy.whenScaled":        `"Retain"`,
	"apps.v1.StatefulSetSpec.podManagementPolicy":                               `"OrderedReady"`,
	"apps.v1.StatefulSetSpec.replicas":                                          `1`,
	"apps.v1.StatefulSetSpec.revisionHistoryLimit":                              `10`,
	"apps.v1.StatefulSetUpdateStrategy.type":                                    `"RollingUpdate"`,
	"autoscaling.v1.HorizontalPodAutoscalerSpec.minReplicas":                    `1`,
	"autoscaling.v1.HorizontalPodAutoscalerSpec.targetCPUUtilizationPercentage": `80`,
	"autoscaling.v2.HorizontalPodAutoscalerSpec.minReplicas":                    `1`,
	"batch.v1.CronJobSpec.concurrencyPolicy":                                    `"Allow"`,
	"batch.v1.CronJobSpec.failedJobsHistoryLimit":                               `1`,
	"batch.v1.CronJobSpec.successfulJobsHistoryLimit":                           `3`,
	"batch.v1.CronJobSpec.suspend":                                              `false`,
	"batch.v1.JobSpec.backoffLimit":                                             `6|2147483647`,
	"batch.v1.JobSpec.completionMode":                                           `"NonIndexed"`,
	"batch.v1.JobSpec.completions":                                              `1`,
	"batch.v1.JobSpec.manualSelector":                                           `false`,
	"batch.v1.JobSpec.parallelism":                                              `1`,
	"batch.v1.JobSpec.podReplacementPolicy":                                     `"TerminatingOrFailed"|"Failed"`,
	"batch.v1.JobSpec.suspend":                                                  `false`,
	"core.v1.ClientIPConfig.timeoutSeconds":                                     `10800`,
	"core.v1.EndpointPort.protocol":                                             `"TCP"`,
	"core.v1.ConfigMapVolumeSource.defaultMode":                                 `420`,
	"core.v1.Container.imagePullPolicy":                                         `"IfNotPresent"|"Always"`,
	"core.v1.Container.terminationMessagePath":                                  `"/dev/termination-log"`,
	"core.v1.Container.terminationMessagePolicy":                                `"File"`,
	"core.v1.DownwardAPIVolumeSource.defaultMode":                               `420`,
	"core.v1.EphemeralContainer.imagePullPolicy":                                `"IfNotPresent"|"Always"`,
	"core.v1.EphemeralContainer.terminationMessagePath":                         `"/dev/termination-log"`,
	"core.v1.EphemeralContainer.terminationMessagePolicy":                       `"File"`,
	"core.v1.HTTPGetAction.path":                                                `"/"`,
	"core.v1.HTTPGetAction.scheme":                                              `"HTTP"`,
	"core.v1.HostPathVolumeSource.type":                                         `""`,
	"core.v1.NamespaceSpec.finalizers":                                          `["kubernetes"]`,
	"core.v1.ObjectFieldSelector.apiVersion":                                    `"v1"`,
	"core.v1.PersistentVolumeClaimSpec.volumeMode":                              `"Filesystem"`,
	"core.v1.PersistentVolumeSpec.persistentVolumeReclaimPolicy":                `"Retain"`,
	"core.v1.PersistentVolumeSpec.volumeMode":                                   `"Filesystem"`,
	"core.v1.PodSpec.dnsPolicy":                                                 `"ClusterFirst"`,
	"core.v1.PodSpec.enableServiceLinks":                                        `true`,
	"core.v1.PodSpec.preemptionPolicy":                                          `"PreemptLowerPriority"`,
	"core.v1.PodSpec.priority":                                                  `0`,
	"core.v1.PodSpec.restartPolicy":                                             `"Always"`,
	"core.v1.PodSpec.schedulerName":                                             `"default-scheduler"`,
	"core.v1.PodSpec.securityContext":                                           `{}`,
	"core.v1.PodSpec.terminationGracePeriodSeconds":                             `30`,
	"core.v1.Probe.failureThreshold":                                            `3`,
	"core.v1.Probe.periodSeconds":                                               `10`,
	"core.v1.Probe.successThreshold":                                            `1`,
	"core.v1.Probe.timeoutSeconds":                                              `1`,
	"core.v1.ProjectedVolumeSource.defaultMode":                                 `420`,
	"core.v1.Secret.type":                                                       `"Opaque"`,
	"core.v1.SecretVolumeSource.defaultMode":                                    `420`,
	"core.v1.ServiceAccountTokenProjection.expirationSeconds":                   `3600`,
	"core.v1.ServiceSpec.allocateLoadBalancerNodePorts":                         `true`,
	"core.v1.ServiceSpec.externalTrafficPolicy":                                 `"Cluster"`,
	"core.v1.ServiceSpec.internalTrafficPolicy":                                 `"Cluster"`,
	"core.v1.ServiceSpec.ipFamilyPolicy":                                        `"SingleStack"`,
	"core.v1.ServiceSpec.sessionAffinity":                                       `"None"`,
	"core.v1.ServiceSpec.type":                                                  `"ClusterIP"`,
	"discovery.v1.EndpointPort.name":                                            `""`,
	"discovery.v1.EndpointPort.protocol":                                        `"TCP"`,
	"networking.v1.IngressClassParametersReference.scope":                       `"Cluster"`,
	"networking.v1.NetworkPolicyPort.protocol":                                  `"TCP"`,
	"networking.v1.NetworkPolicySpec.policyTypes":                               `["Ingress"]|["Ingress","Egress"]`,
	"core.v1.ResourceFieldSelector.divisor":                                     `"0"`,
	"rbac.v1.RoleRef.apiGroup":                                                  `"rbac.authorization.k8s.io"`,
	"rbac.v1.Subject.apiGroup":                                                  `"rbac.authorization.k8s.io"|""`,
	"scheduling.v1.PriorityClass.preemptionPolicy":                              `"PreemptLowerPriority"`,
	"storage.v1.CSIDriverSpec.attachRequired":                                   `true`,
	"storage.v1.CSIDriverSpec.fsGroupPolicy":                                    `"ReadWriteOnceWithFSType"`,
	"storage.v1.CSIDriverSpec.podInfoOnMount":                                   `false`,
	"storage.v1.CSIDriverSpec.requiresRepublish":                                `false`,
	"storage.v1.CSIDriverSpec.seLinuxMount":                                     `false`,
	"storage.v1.CSIDriverSpec.storageCapacity":                                  `false`,
	"storage.v1.CSIDriverSpec.volumeLifecycleModes":                             `["Persistent"]`,
	"storage.v1.StorageClass.reclaimPolicy":                                     `"Delete"`,
	"storage.v1.StorageClass.volumeBindingMode":                                 `"Immediate"`,
}

// ByDefault says whether a field has a value that the server would give it
// anyway: the schema's default, the zero that is stored as absence, or one of the
// server's own.
func ByDefault(t *merge.Type, name string, v any) bool {
	if t == nil || t.Kind != merge.Object {
		return false
	}
	f := t.Fields[name]
	if f.Default != nil && merge.Equal(v, f.Default, f.Type) || f.ZeroIsAbsent && zero(v) {
		return true
	}
	texts, ok := serverDefaults[strings.TrimPrefix(t.Name, "io.k8s.api.")+"."+name]
	if !ok {
		return false
	}
	text, err := json.Marshal(v)
	return err == nil && slices.Contains(strings.Split(texts, "|"), string(text))
}

func zero(v any) bool {
	return v == false || v == json.Number("0") || empty(v)
}
