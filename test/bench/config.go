package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
)

// kubeconfig is as much of one as is needed.
type kubeconfig struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Current    string         `json:"current-context"`
	Clusters   []namedCluster `json:"clusters"`
	Contexts   any            `json:"contexts"`
	Users      []namedUser    `json:"users"`
}

type namedCluster struct {
	Name    string `json:"name"`
	Cluster struct {
		Server    string `json:"server"`
		Authority []byte `json:"certificate-authority-data"`
	} `json:"cluster"`
}

type namedUser struct {
	Name string `json:"name"`
	User struct {
		Token string `json:"token"`
	} `json:"user"`
}

// config is how the server is reached.
func (s *server) config(ctx context.Context) (kubeconfig, error) {
	var c kubeconfig
	text, err := s.kubectl(ctx, "", "config", "view", "--raw", "--minify", "-o", "json")
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err == nil && (len(c.Clusters) != 1 || len(c.Users) != 1) {
		err = fmt.Errorf("the kubeconfig has %d clusters and %d users, want 1 each", len(c.Clusters), len(c.Users))
	}
	return c, err
}

func (c kubeconfig) write(file string) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}
