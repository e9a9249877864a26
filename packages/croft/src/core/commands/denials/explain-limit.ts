import type { SandboxDenial } from '../sandbox.ts';
import { findMentionedPaths } from './find-mentioned-paths.ts';
import type { ExplainLine, SandboxRules } from './output-line.ts';

const fileSize = /File too large|File size limit exceeded|\bEFBIG\b/;
const openFiles = /Too many open files|\bEMFILE\b/i;
const disk = /No space left on device|Disk quota exceeded/i;
const forks = /fork: (?:retry: )?Resource temporarily unavailable|Cannot fork|can't start new thread/;
const memory = /Cannot allocate memory|\bENOMEM\b/;

export const limitClues = [fileSize, openFiles, disk, forks, memory];

/** Explains limits that the kernel reports only to the program itself. */
export const explainLimit: ExplainLine = ({ text }, fence) => {
  if (fileSize.test(text)) return overFileSize(fence);
  if (openFiles.test(text)) return overOpenFiles(fence);
  if (forks.test(text)) return over('processes', count(fence.limits?.processes, 'processes'), fewerProcesses);
  if (memory.test(text)) return over('memory', megabytes(fence.limits?.memoryBytes), lessMemory);
  const at = text.search(disk);
  return at < 0 ? undefined : overDisk(findMentionedPaths(text, at), fence);
};

const fewerProcesses = 'Start fewer at once, or end those left behind.';
const lessMemory = 'Use less memory at once, or ask the operator for a larger --limit memory.';

export function overFileSize({ limits }: SandboxRules): SandboxDenial {
  const next = 'Write smaller files, or ask the operator for a larger --limit file.';
  return over('file-size', megabytes(limits?.fileBytes), next);
}

function overOpenFiles({ limits }: SandboxRules): SandboxDenial {
  const next = 'Close files that are no longer needed, or ask the operator for a larger --limit open-files.';
  return over('open-files', count(limits?.openFiles, 'open files'), next);
}

function overDisk(paths: readonly string[], { workspacePath, limits }: SandboxRules): SandboxDenial {
  const inWorkspace = paths.some((path) => path === workspacePath || path.startsWith(`${workspacePath}/`));
  const memoryDirectory = ['/tmp', '/dev/shm', '/home/croft'].find((directory) =>
    paths.some((path) => path === directory || path.startsWith(`${directory}/`)),
  );
  const isElsewhere = !inWorkspace && memoryDirectory !== undefined;
  const next = isElsewhere
    ? 'Delete what is no longer needed there, or write in the workspace.'
    : 'Delete what is no longer needed, or ask the operator for a larger --limit disk.';
  return over('disk', isElsewhere ? memoryDirectory : megabytes(limits?.diskBytes), next);
}

function over(rule: string, target: string, next: string): SandboxDenial {
  return { layer: 'limit', rule, target, next };
}

function megabytes(bytes: number | undefined): string {
  return bytes === undefined ? '' : `${Math.round(bytes / 1024 / 1024)} MB`;
}

function count(number: number | undefined, noun: string): string {
  return number === undefined ? '' : `${number} ${noun}`;
}
