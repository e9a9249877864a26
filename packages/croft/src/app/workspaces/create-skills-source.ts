import { readSkillsSource } from '../../core/skills/read-skills-source.ts';
import type { SkillsSource } from '../../core/skills/skills-source.ts';
import { closeMount, openLocalDirectory } from '../../storages/index.ts';

export interface SkillsDirectories {
  /** Directories that contain skills, each a directory with a `SKILL.md`. */
  readonly skills: readonly string[];
  /** Directories that contain definitions of sub-agents. */
  readonly agents: readonly string[];
}

/**
 * Skills in directories of this machine. They are opened again for each sync, because an update may replace a
 * directory. Throws an `Error` for the operator if one cannot be opened now. Returns nothing if there are no
 * directories.
 */
export function createSkillsSource({ skills, agents }: SkillsDirectories): SkillsSource | undefined {
  if (skills.length + agents.length === 0) return undefined;
  openAll([...skills, ...agents])[Symbol.dispose]();
  return {
    async open(signal) {
      const opened = openAll([...skills, ...agents]);
      try {
        const roots = { skills: opened.files.slice(0, skills.length), agents: opened.files.slice(skills.length) };
        return { ...(await readSkillsSource(roots, signal)), [Symbol.dispose]: opened[Symbol.dispose] };
      } catch (thrown) {
        opened[Symbol.dispose]();
        throw thrown;
      }
    },
  };
}

function openAll(paths: readonly string[]) {
  const mounts: ReturnType<typeof openLocalDirectory>[] = [];
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
    return openLocalDirectory({ path });
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message.replace(/^(resolve )?workspace root(:| is)/, '$2') : thrown;
    throw new Error(`directory of skills or agents ${path}${String(reason).startsWith(':') ? '' : ' '}${reason}`);
  }
}
