package deploy

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

// manifests are the objects of kubernetes.yaml, each decoded into the type that
// the cluster has for it: a field that it does not know is an error.
type manifests struct {
	config     corev1.ConfigMap
	secret     corev1.Secret
	deployment appsv1.Deployment
	service    corev1.Service
	budget     policyv1.PodDisruptionBudget
	ingress    networkingv1.Ingress
	namespace  corev1.Namespace
}

func kubernetes(t *testing.T) *manifests {
	t.Helper()
	var m manifests
	kinds := map[string]any{
		"v1 ConfigMap": &m.config, "v1 Secret": &m.secret, "apps/v1 Deployment": &m.deployment, "v1 Service": &m.service,
		"policy/v1 PodDisruptionBudget": &m.budget, "networking.k8s.io/v1 Ingress": &m.ingress, "v1 Namespace": &m.namespace,
	}
	for _, text := range strings.Split(read(t, "kubernetes.yaml"), "\n---\n") {
		var kind struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
		}
		if err := yaml.Unmarshal([]byte(text), &kind); err != nil {
			t.Fatal(err)
		}
		into := kinds[kind.APIVersion+" "+kind.Kind]
		if into == nil {
			t.Fatalf("unexpected, or twice: %s %s", kind.APIVersion, kind.Kind)
		}
		delete(kinds, kind.APIVersion+" "+kind.Kind)
		if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
			t.Fatalf("%s: %v", kind.Kind, err)
		}
	}
	for kind := range kinds {
		t.Errorf("there is no %s", kind)
	}
	return &m
}

func kubernetesSettings(t *testing.T) string {
	t.Helper()
	return kubernetes(t).config.Data["armature.json"]
}

func TestKubernetes(t *testing.T) {
	m := kubernetes(t)
	pod := m.deployment.Spec.Template.Spec
	c := pod.Containers[0]

	for _, e := range c.Env {
		if e.ValueFrom == nil {
			continue
		}
		if ref := e.ValueFrom.SecretKeyRef; ref.Name != m.secret.Name || m.secret.StringData[ref.Key] == "" {
			t.Errorf("%s comes from %s/%s, which is not there", e.Name, ref.Name, ref.Key)
		}
	}
	for _, mount := range c.VolumeMounts {
		if !slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name }) {
			t.Errorf("%s is mounted and is no volume", mount.Name)
		}
	}
	for _, v := range pod.Volumes {
		if v.PersistentVolumeClaim != nil {
			t.Errorf("volume %s would keep something", v.Name)
		}
	}
	for _, selector := range []map[string]string{m.service.Spec.Selector, m.budget.Spec.Selector.MatchLabels, m.deployment.Spec.Selector.MatchLabels} {
		for key, value := range selector {
			if m.deployment.Spec.Template.Labels[key] != value {
				t.Errorf("%s=%s selects no pod", key, value)
			}
		}
	}
	if port := m.service.Spec.Ports[0]; port.TargetPort.StrVal != c.Ports[0].Name || m.ingress.Spec.Rules[0].HTTP.Paths[0].Backend.Service.Port.Name != port.Name {
		t.Error("the ports do not meet")
	}
	for name, probe := range map[string]*corev1.Probe{"/readyz": c.ReadinessProbe, "/healthz": c.LivenessProbe} {
		if probe.HTTPGet.Path != name || probe.HTTPGet.Port.StrVal != c.Ports[0].Name {
			t.Errorf("a probe asks %v, want %s", probe.HTTPGet, name)
		}
	}
	if !*pod.SecurityContext.RunAsNonRoot || !*c.SecurityContext.ReadOnlyRootFilesystem || *c.SecurityContext.AllowPrivilegeEscalation {
		t.Error("the pod may do more than it needs")
	}

	// What a pod may take to end covers what the server may take.
	var settings struct {
		Listen   string `json:"listen"`
		Drain    string `json:"drain-delay"`
		Shutdown string `json:"shutdown-timeout"`
	}
	if err := json.Unmarshal([]byte(m.config.Data["armature.json"]), &settings); err != nil {
		t.Fatal(err)
	}
	var end time.Duration
	for _, text := range []string{settings.Drain, settings.Shutdown} {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		end += d
	}
	if grace := time.Duration(*pod.TerminationGracePeriodSeconds) * time.Second; grace < end+20*time.Second {
		t.Errorf("a pod has %v to end, and the server takes up to %v and 20 s", grace, end)
	}
	if !strings.HasSuffix(settings.Listen, ":8000") || c.Ports[0].ContainerPort != 8000 {
		t.Errorf("it listens on %s", settings.Listen)
	}
}
