import { readFileSync } from 'node:fs';

export function isMounted(target: string): boolean {
  return mountPoints().includes(target);
}

/** Returns mount points deepest and newest first, the order in which to unmount them. */
export function mountsBelow(parent: string): string[] {
  return mountPoints()
    .filter((point) => point.startsWith(`${parent}/`))
    .reverse();
}

function mountPoints(): string[] {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  return lines.flatMap((line) => {
    const point = line.split(' ')[4];
    return point === undefined ? [] : [unescapePoint(point)];
  });
}

/** The kernel writes white space and backslashes as three octal digits. */
function unescapePoint(point: string): string {
  return point.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
