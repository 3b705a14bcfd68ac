# kubectl-merge from source: nix run github:kubectl-merge/kubectl-merge -- version
{
  description = "Three-way merge of local objects into a Kubernetes cluster, as kubectl merge";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [
        "x86_64-linux"
        "aarch64-linux"
        "x86_64-darwin"
        "aarch64-darwin"
      ];
      each = build: nixpkgs.lib.genAttrs systems (system: build nixpkgs.legacyPackages.${system});
      cli = "github.com/kubectl-merge/kubectl-merge/internal/cli";
    in
    {
      packages = each (pkgs: {
        default = pkgs.buildGo126Module {
          pname = "kubectl-merge";
          version = self.shortRev or "dirty";
          src = self;
          # go run ./packaging/nix writes it: the hash of what `go mod vendor` makes.
          vendorHash = "sha256-1RTxebz1rF+SUwQtM8YdMV6rbbOdK5IUKf4xW7/H/T4=";
          subPackages = [ "cmd/kubectl-merge" ];
          env.CGO_ENABLED = 0;
          ldflags = [
            "-s"
            "-w"
            "-X ${cli}.version=${self.shortRev or "dirty"}"
            "-X ${cli}.commit=${self.rev or "dirty"}"
          ];
          doCheck = false; # the tests build and start an API server
          postInstall = ''
            install -Dm755 packaging/kubectl_complete-merge -t $out/bin
            install -Dm644 docs/man/*.1 -t $out/share/man/man1
          '';
          meta = {
            description = "Three-way merge of local objects into a Kubernetes cluster, as kubectl merge";
            homepage = "https://github.com/kubectl-merge/kubectl-merge";
            license = pkgs.lib.licenses.asl20;
            mainProgram = "kubectl-merge";
          };
        };
      });
    };
}
