/** Directories with skills, each a directory with a `SKILL.md`. The first that has a name wins. */
export const skillDirectories = ['.skills', 'skills', '.agents/skills', '.claude/skills'] as const;

/** Directories with sub-agents, each a Markdown file with front matter. */
export const agentDirectories = ['.agents', '.claude/agents', 'agents'] as const;

/** Directories that the server's skills and agents are synced to. */
export const syncedSkillsDirectory = '.skills';
export const syncedAgentsDirectory = '.agents';

/** The file in each synced directory that lists the server's files. */
export const manifestName = '.croft-manifest.json';

/**
 * Whether the sync of agents may change a control file: a definition, or the manifest. `path` is from the root, with
 * links resolved.
 */
export function isSyncedControlFile(path: string): boolean {
  const [directory, name = '', ...deeper] = path.split('/');
  if (directory !== syncedAgentsDirectory || deeper.length > 0) return false;
  return name === manifestName || name.endsWith('.md');
}
