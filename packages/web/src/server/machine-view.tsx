// The machine tab: processor, memory, disk, devices, versions, and the memory of each loaded model.
import type { Machine, MachineDevice } from "@ingle/protocol";
import type { ComponentChildren } from "preact";

import { live, models, useMachine } from "../connection/connection.ts";
import { Gauge } from "../design/indicators.tsx";
import { bytesText } from "../format/localized.ts";
import { machineText } from "../strings/pages.ts";

export function MachineView() {
  const machine = useMachine();
  return (
    <div class="machine-grid">
      {machine === null ? <p class="soft">{machineText.unreachable}</p> : <MachineCards machine={machine} />}
      <LoadedModels />
    </div>
  );
}

function MachineCards({ machine }: { machine: Machine }) {
  const { memory_bytes: memory, available_bytes: available, disk_free_bytes: disk } = machine;
  // The processor and its memory have their own cards.
  const cards = machine.devices.filter(({ kind }) => kind !== "cpu");
  return (
    <>
      <Part title={machineText.processor}>
        <p>{machine.processor}</p>
        <p class="small soft">
          {machineText.cores(machine.cores)} · {machine.platform}
        </p>
      </Part>
      <Part title={machineText.memory}>
        <p class="figures">{machineText.memoryFree(bytesText(available), bytesText(memory))}</p>
        <Gauge label={machineText.memory} value={1 - available / memory} />
      </Part>
      <Part title={machineText.disk}>
        {disk !== null && <p class="figures">{machineText.diskFree(bytesText(disk))}</p>}
        <p class="small soft">
          {machineText.models}: <code>{machine.library_path}</code>
        </p>
      </Part>
      <Part title={machineText.devices}>
        {cards.length === 0 && <p class="soft">{machineText.noDevices}</p>}
        <ul class="stack">
          {cards.map((device) => (
            <Device key={device.name} device={device} />
          ))}
        </ul>
      </Part>
      <Part title={machineText.versions}>
        <p>
          {machineText.version} {machine.version}
        </p>
        <p class="small soft">
          {machineText.llamaCpp} {machine.llama_cpp}
        </p>
      </Part>
    </>
  );
}

function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="card stack machine-part" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Device({ device }: { device: MachineDevice }) {
  const { memory_bytes: memory, free_bytes: free } = device;
  return (
    <li>
      <p>
        {device.description} <span class="small soft">({machineText.deviceKind[device.kind]})</span>
      </p>
      {memory > 0 && (
        <>
          <p class="small soft figures">{machineText.memoryFree(bytesText(free), bytesText(memory))}</p>
          <Gauge label={device.name} value={1 - free / memory} />
        </>
      )}
    </li>
  );
}

/** The size of the KV cache is shown for this many tokens. */
const shownTokens = 1000;

function LoadedModels() {
  const inMemory = models.value.filter((model) => model.memory_bytes !== null);
  const memory = live.value?.state.memory;
  const budget = memory?.budget_bytes ?? null;
  return (
    <section class="card stack machine-part wide" aria-label={machineText.loaded}>
      <h2>{machineText.loaded}</h2>
      {inMemory.length === 0 && <p class="soft">{machineText.noneLoaded}</p>}
      {inMemory.length > 0 && memory !== undefined && (
        <>
          <p class="figures">
            {budget === null
              ? machineText.usedOnly(bytesText(memory.used_bytes))
              : machineText.budget(bytesText(memory.used_bytes), bytesText(budget))}
          </p>
          {budget !== null && budget > 0 && (
            <Gauge label={machineText.loaded} value={memory.used_bytes / budget} />
          )}
        </>
      )}
      <ul class="stack">
        {inMemory.map((model) => (
          <li key={model.id}>
            <p class="row row-apart">
              <span class="loaded-name">{model.id}</span>
              <span class="figures">{bytesText(model.memory_bytes ?? 0)}</span>
            </p>
            {model.kv_bytes_per_token !== null && (
              <p class="small soft">
                {machineText.kvPerToken(bytesText(model.kv_bytes_per_token * shownTokens))}
              </p>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
