/** Where skills of a workspace are looked for, each a directory with a `SKILL.md`. What is found first wins. */
export const skillPlaces = ['.skills', 'skills', '.agents/skills', '.claude/skills'] as const;

/** Where sub-agents are defined, each a Markdown file with front matter. */
export const agentPlaces = ['.agents', '.claude/agents', 'agents'] as const;

/** Where the server's own are brought to. */
export const syncedSkills = '.skills';
export const syncedAgents = '.agents';

/** In each of the two: which files there are the server's. */
export const manifestName = '.croft-manifest.json';

/**
 * Whether a control file is one that the sync of agents may change, by its path from the root with every link
 * resolved: a definition, or what is known of them.
 */
export function isSyncedControl(path: string): boolean {
  const [directory, name = '', ...deeper] = path.split('/');
  if (directory !== syncedAgents || deeper.length > 0) return false;
  return name === manifestName || name.endsWith('.md');
}
