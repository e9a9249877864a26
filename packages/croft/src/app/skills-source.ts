import { readSource } from '../core/skills/read-source.ts';
import type { SkillsSource } from '../core/skills/source.ts';
import { closeMount, openLocal } from '../storages/index.ts';

export interface SkillsDirectories {
  /** Of directories with a `SKILL.md`. */
  readonly skills: readonly string[];
  /** Of definitions of sub-agents. */
  readonly agents: readonly string[];
}

/**
 * Directories of this machine, opened anew each time: whoever brings them up to date may put others in their place.
 * Throws an `Error` for the operator when one cannot be opened now. Nothing where there are none.
 */
export function createSkillsSource({ skills, agents }: SkillsDirectories): SkillsSource | undefined {
  if (skills.length + agents.length === 0) return undefined;
  openAll([...skills, ...agents])[Symbol.dispose]();
  return {
    async open(signal) {
      const opened = openAll([...skills, ...agents]);
      try {
        const roots = { skills: opened.files.slice(0, skills.length), agents: opened.files.slice(skills.length) };
        return { ...(await readSource(roots, signal)), [Symbol.dispose]: opened[Symbol.dispose] };
      } catch (thrown) {
        opened[Symbol.dispose]();
        throw thrown;
      }
    },
  };
}

function openAll(paths: readonly string[]) {
  const mounts: ReturnType<typeof openLocal>[] = [];
  const close = () => mounts.splice(0).forEach(closeMount);
  try {
    for (const path of paths) mounts.push(openOne(path));
  } catch (thrown) {
    close();
    throw thrown;
  }
  return { files: mounts.map(({ files }) => files), [Symbol.dispose]: close };
}

function openOne(path: string) {
  try {
    return openLocal({ path });
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message.replace(/^(resolve )?workspace root(:| is)/, '$2') : thrown;
    throw new Error(`directory of skills or agents ${path}${String(reason).startsWith(':') ? '' : ' '}${reason}`);
  }
}
