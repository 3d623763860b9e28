// Checks what no schema expresses: references by name between the objects of a release, and privileges between the fields of a
// pod.
import { z } from "zod";
import type { KubernetesObject } from "./helm.ts";
import { allContainers, createdPods, type Pod } from "./pods.ts";

/** The patterns for a label's value, an object's name and a port's name. */
const labelValue = /^(?=.{0,63}$)([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;
const objectName = /^(?=.{1,63}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const portName = /^(?=.{1,15}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

const Labels = z.record(z.string(), z.string());
const ServiceSpec = z.object({
  selector: Labels,
  ports: z.array(z.object({ port: z.number(), targetPort: z.union([z.number(), z.string()]).optional() })),
});
const PoolSpec = z.object({ targetPorts: z.array(z.object({ number: z.number() })) });
const LabelSelector = z.object({ matchLabels: Labels });

/** The problems in the objects of one release, one sentence each. */
export function consistencyProblems(objects: readonly KubernetesObject[]): string[] {
  const found = objects.flatMap((object) => {
    const pods = createdPods(object);
    const problems = [
      ...nameProblems(object, pods),
      ...pods.flatMap((pod) => [
        ...volumeProblems(pod),
        ...rightsProblems(pod),
        ...probeProblems(pod),
        ...missingObjects(pod, objects),
      ]),
      ...referenceProblems(object, objects.flatMap(createdPods)),
    ];
    return problems.map((problem) => `${qualifiedName(object)}: ${problem}`);
  });
  return [
    ...found,
    ...duplicates(objects.map(qualifiedName)).map((name) => `${name}: there are two of them`),
  ];
}

function qualifiedName({ kind, metadata }: KubernetesObject): string {
  return `${kind} ${metadata.name}`;
}

function nameProblems({ metadata }: KubernetesObject, pods: readonly Pod[]): string[] {
  const labels = [metadata.labels ?? {}, ...pods.map((pod) => pod.labels)].flatMap((each) =>
    Object.entries(each),
  );
  const ports = pods.flatMap(({ spec }) => spec.containers).flatMap((container) => container.ports);
  return [
    ...(objectName.test(metadata.name) ? [] : ["is not a valid object name"]),
    ...labels
      .filter(([, value]) => !labelValue.test(value))
      .map(([label, value]) => `the label ${label} may not be ${value}`),
    ...ports
      .filter(({ name }) => name !== undefined && !portName.test(name))
      .map(({ name }) => `a port may not be called ${name}`),
  ];
}

function volumeProblems(pod: Pod): string[] {
  const volumes = pod.spec.volumes.map(({ name }) => name);
  const mounted = allContainers(pod).flatMap(({ volumeMounts }) => volumeMounts.map(({ name }) => name));
  return [
    ...duplicates(volumes).map((name) => `two volumes are called ${name}`),
    ...allContainers(pod).flatMap(({ volumeMounts }) =>
      duplicates(volumeMounts.map(({ mountPath }) => mountPath)).map(
        (path) => `two volumes are mounted at ${path}`,
      ),
    ),
    ...mounted.filter((name) => !volumes.includes(name)).map((name) => `there is no volume ${name} to mount`),
    ...volumes.filter((name) => !mounted.includes(name)).map((name) => `nothing mounts the volume ${name}`),
  ];
}

function rightsProblems(pod: Pod): string[] {
  const all = pod.spec.securityContext;
  return allContainers(pod).flatMap(({ name, securityContext: own }) => {
    const rules: readonly (readonly [boolean, string])[] = [
      [own.allowPrivilegeEscalation === false, "may gain privileges"],
      [own.readOnlyRootFilesystem === true, "can write its root filesystem"],
      [(own.runAsNonRoot ?? all?.runAsNonRoot) === true, "may run as root"],
      [own.capabilities?.drop.includes("ALL") === true, "keeps capabilities"],
      [(own.seccompProfile ?? all?.seccompProfile)?.type === "RuntimeDefault", "has no seccomp profile"],
    ];
    return rules.filter(([isKept]) => !isKept).map(([, problem]) => `the container ${name} ${problem}`);
  });
}

function probeProblems(pod: Pod): string[] {
  return pod.spec.containers
    .flatMap(({ startupProbe, readinessProbe, livenessProbe }) => [
      startupProbe,
      readinessProbe,
      livenessProbe,
    ])
    .flatMap((probe) => [probe?.httpGet?.port, probe?.grpc?.port])
    .filter((port) => port !== undefined)
    .filter((port) => !listensOn(pod, port))
    .map((port) => `a probe asks port ${port}, on which nobody listens`);
}

/** References of a pod to objects that the release does not have. Secrets and claims may exist already. */
function missingObjects({ spec }: Pod, objects: readonly KubernetesObject[]): string[] {
  const names = new Set(objects.map(qualifiedName));
  return spec.volumes
    .flatMap(({ configMap }) => (configMap === undefined ? [] : [`ConfigMap ${configMap.name}`]))
    .filter((name) => !names.has(name))
    .map((name) => `there is no ${name}`);
}

/** Selectors that select no pod, and ports that no container listens on. */
function referenceProblems({ apiVersion, kind, spec }: KubernetesObject, pods: readonly Pod[]): string[] {
  switch (`${apiVersion} ${kind}`) {
    case "v1 Service": {
      const { selector, ports } = ServiceSpec.parse(spec);
      const targets = ports.map(({ port, targetPort }) => targetPort ?? port);
      return [...unselected(selector, pods), ...unserved(targets, pods)];
    }
    case "inference.networking.k8s.io/v1 InferencePool": {
      const { selector } = z.object({ selector: LabelSelector }).parse(spec);
      const targets = PoolSpec.parse(spec).targetPorts.map(({ number }) => number);
      return [...unselected(selector.matchLabels, pods), ...unserved(targets, pods)];
    }
    case "apps/v1 Deployment":
    case "policy/v1 PodDisruptionBudget":
    case "monitoring.coreos.com/v1 PodMonitor":
      return unselected(z.object({ selector: LabelSelector }).parse(spec).selector.matchLabels, pods);
    case "networking.k8s.io/v1 NetworkPolicy":
      return unselected(z.object({ podSelector: LabelSelector }).parse(spec).podSelector.matchLabels, pods);
    default:
      return [];
  }
}

function unselected(selector: Record<string, string>, pods: readonly Pod[]): string[] {
  const isSelected = ({ labels }: Pod): boolean =>
    Object.entries(selector).every(([label, value]) => labels[label] === value);
  return pods.some(isSelected) ? [] : [`no pod has the labels ${JSON.stringify(selector)}`];
}

function unserved(ports: readonly (number | string)[], pods: readonly Pod[]): string[] {
  return ports
    .filter((port) => !pods.some((pod) => listensOn(pod, port)))
    .map((port) => `no container listens on ${port}`);
}

function listensOn({ spec }: Pod, port: number | string): boolean {
  return spec.containers.some(({ ports }) =>
    ports.some(({ name, containerPort }) => containerPort === port || name === port),
  );
}

function duplicates(names: readonly string[]): string[] {
  return names.filter((name, index) => names.indexOf(name) !== index);
}
