// The machine tab: processor, memory, disk, devices, versions, and the memory of each loaded model.
import type { Machine, MachineDevice, ManagedModel } from "@ingle/protocol";
import type { ComponentChildren } from "preact";

import { live, models } from "../connection/connection.ts";
import { Gauge } from "../design/progress.tsx";
import { bytesText } from "../format/in-language.ts";
import { useMachine } from "../machine/machine-state.ts";
import { strings } from "../strings/strings.ts";

import "./machine-view.css";

export function MachineView() {
  const text = strings.value.machine;
  const machine = useMachine();
  return (
    <div class="machine-grid">
      {machine === null ? <p class="soft">{text.unreachable}</p> : <MachineCards machine={machine} />}
      <LoadedModels />
    </div>
  );
}

function MachineCards({ machine }: { machine: Machine }) {
  const text = strings.value.machine;
  const { memory_bytes: memory, available_bytes: available, disk_free_bytes: disk } = machine;
  // The processor and its memory have their own cards.
  const cards = machine.devices.filter(({ kind }) => kind !== "cpu");
  return (
    <>
      <Part title={text.processor}>
        <p>{machine.processor}</p>
        <p class="small soft">
          {text.cores(machine.cores)} · {machine.platform}
        </p>
      </Part>
      <Part title={text.memory}>
        <p class="figures">{text.memoryFree(bytesText(available), bytesText(memory))}</p>
        <Gauge label={text.memory} value={1 - available / memory} />
      </Part>
      <Part title={text.disk}>
        {disk !== null && <p class="figures">{text.diskFree(bytesText(disk))}</p>}
        <p class="small soft">
          {text.models}: <code>{machine.library_path}</code>
        </p>
      </Part>
      <Part title={text.devices}>
        {cards.length === 0 && <p class="soft">{text.noDevices}</p>}
        <ul class="devices">
          {cards.map((device) => (
            <Device key={device.name} device={device} />
          ))}
        </ul>
      </Part>
      <Part title={text.versions}>
        <p>
          {text.version} {machine.version}
        </p>
        <p class="small soft">
          {text.llamaCpp} {machine.llama_cpp}
        </p>
      </Part>
    </>
  );
}

function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="card machine-part" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Device({ device }: { device: MachineDevice }) {
  const text = strings.value.machine;
  const { memory_bytes: memory, free_bytes: free } = device;
  return (
    <li>
      <p>
        {device.description} <span class="small soft">({text.deviceKind[device.kind]})</span>
      </p>
      {memory > 0 && (
        <>
          <p class="small soft figures">{text.memoryFree(bytesText(free), bytesText(memory))}</p>
          <Gauge label={device.name} value={1 - free / memory} />
        </>
      )}
    </li>
  );
}

/** The size of the KV cache is shown for this many tokens. */
const shownTokens = 1000;

function LoadedModels() {
  const text = strings.value.machine;
  const inMemory = models.value.filter((model) => model.memory_bytes !== null);
  const memory = live.value?.state.memory;
  const budget = memory?.budget_bytes ?? null;
  return (
    <section class="card machine-part wide" aria-label={text.loaded}>
      <h2>{text.loaded}</h2>
      {inMemory.length === 0 && <p class="soft">{text.noneLoaded}</p>}
      {inMemory.length > 0 && memory !== undefined && (
        <>
          <p class="figures">
            {budget === null
              ? text.usedOnly(bytesText(memory.used_bytes))
              : text.budget(bytesText(memory.used_bytes), bytesText(budget))}
          </p>
          {budget !== null && budget > 0 && <Gauge label={text.loaded} value={memory.used_bytes / budget} />}
        </>
      )}
      <ul class="devices">
        {inMemory.map((model) => (
          <li key={model.id}>
            <p class="row row-apart">
              <span class="loaded-name">{model.id}</span>
              <span class="figures">{bytesText(model.memory_bytes ?? 0)}</span>
            </p>
            <KvFacts model={model} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function KvFacts({ model: { kv_bytes_per_token: perToken } }: { model: ManagedModel }) {
  const text = strings.value.machine;
  if (perToken === null) return null;
  return <p class="small soft">{text.kvPerToken(bytesText(perToken * shownTokens))}</p>;
}
