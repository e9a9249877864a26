import type { SandboxLimits } from '../../commands/sandbox.ts';
import { permissionModes } from '../../workspace/permission.ts';
import { isSameJson } from '../configs/check-json.ts';
import { toConfiguredLimits } from '../configs/convert-sandbox-config.ts';
import type { SandboxConfig } from '../ports/registry.ts';

type Network = SandboxConfig['network'];

/** Settings that are compared by their meaning, or that do not affect running programs. */
const judged: ReadonlySet<string> = new Set([
  ...['permissionMode', 'network', 'size', 'memoryLimit', 'timeout', 'outputLimitBytes', 'runtimes'],
  // Changes of these settings affect only commands and sandboxes that start later.
  ...['envVars', 'onCreate', 'onResume', 'lifecycle'],
]);

const unbounded: SandboxLimits = {
  memoryBytes: Number.POSITIVE_INFINITY,
  processes: Number.POSITIVE_INFINITY,
  cpus: Number.POSITIVE_INFINITY,
  fileBytes: Number.POSITIVE_INFINITY,
  openFiles: Number.POSITIVE_INFINITY,
  diskBytes: Number.POSITIVE_INFINITY,
};

/** Lists what a sandbox no longer allows. A changed setting that cannot be judged counts as narrowed. */
export function findSandboxNarrowing(had: SandboxConfig, has: SandboxConfig): string[] {
  const isLower = (one = Number.POSITIVE_INFINITY, other = Number.POSITIVE_INFINITY) => other < one;
  return [
    ...(isStricter(had, has) ? [`its permission mode is ${has.permissionMode} now`] : []),
    ...(isNetworkNarrower(had.network, has.network) ? ['its network was narrowed'] : []),
    ...(areLimitsLower(had, has) ? ['its size or memory was lowered'] : []),
    ...(isLower(had.timeout, has.timeout) ? ['its timeout was lowered'] : []),
    ...(isLower(had.outputLimitBytes, has.outputLimitBytes) ? ['its output limit was lowered'] : []),
    ...had.runtimes.filter((one) => !has.runtimes.includes(one)).map((one) => `${one} is not allowed any more`),
    ...changedOtherwise(had, has).map((key) => `its ${key} was changed`),
  ];
}

/** Whether an open sandbox has to be reopened for the new config to apply. */
export function needsNewSandbox(had: SandboxConfig, has: SandboxConfig): boolean {
  return !isSameJson(settingsInside(had), settingsInside(has));
}

/** The settings that an open sandbox was opened with, without those that apply to single calls or from outside. */
function settingsInside(config: SandboxConfig): Partial<SandboxConfig> {
  const {
    permissionMode: _,
    timeout: _t,
    outputLimitBytes: _o,
    runtimes: _r,
    lifecycle: _l,
    onResume: _s,
    ...inside
  } = config;
  return inside;
}

function isStricter(had: SandboxConfig, has: SandboxConfig): boolean {
  // `permissionModes` begins with the strictest.
  return permissionModes.indexOf(has.permissionMode) < permissionModes.indexOf(had.permissionMode);
}

function areLimitsLower(had: SandboxConfig, has: SandboxConfig): boolean {
  const [before, after] = [toConfiguredLimits(had, unbounded), toConfiguredLimits(has, unbounded)];
  return (['memoryBytes', 'cpus', 'diskBytes'] as const).some((name) => after[name] < before[name]);
}

function isNetworkNarrower(had: Network, has: Network): boolean {
  if (has.mode === 'allow-all' || had.mode === 'deny-all') return false;
  if (had.mode === 'allow-all' || has.mode === 'deny-all') return true;
  const isKept = (one: readonly string[] = [], other: readonly string[] = []) =>
    one.every((entry) => other.includes(entry));
  return !isKept(had.allowDomains, has.allowDomains) || !isKept(had.allowCidrs, has.allowCidrs);
}

function changedOtherwise(had: SandboxConfig, has: SandboxConfig): string[] {
  const [before, after] = [new Map(Object.entries(had)), new Map(Object.entries(has))];
  const keys = new Set([...before.keys(), ...after.keys()]);
  return [...keys].filter((key) => !judged.has(key) && !isSameJson(before.get(key), after.get(key)));
}
