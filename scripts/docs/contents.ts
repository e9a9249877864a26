/** A group of pages in the navigation. */
export interface Section {
  readonly title: string;
  /** Sources, as paths from the root of the repository. */
  readonly sources: readonly string[];
}

const docs = (...names: readonly string[]) => names.map((name) => `docs/${name}.md`);

const named: readonly Section[] = [
  { title: 'Start', sources: ['README.md', ...docs('clients', 'platforms', 'packages', 'faq')] },
  {
    title: 'Work',
    sources: docs(
      'repositories',
      'commands',
      'toolchain',
      'profiles',
      'code',
      'undo',
      'approvals',
      'page',
      'cli',
      'sdk',
    ),
  },
  { title: 'Extend', sources: docs('skills', 'mcp-servers') },
  {
    title: 'Serve a team',
    sources: docs('accounts', 'audit', 's3', 'runners', 'docker', 'operations', 'scaling', 'doctor'),
  },
  { title: 'Security', sources: docs('security', 'control-files') },
  {
    title: 'Reference',
    sources: docs(
      'tools',
      'configuration',
      'rest',
      'sdk-reference',
      'errors',
      'events',
      'page-routes',
      'runner-protocol',
    ),
  },
  { title: 'Inside', sources: [...docs('architecture', 'internals'), 'CONTRIBUTING.md', 'CHANGELOG.md'] },
];

/** The navigation. A page that no section names is under `More`, so that a new page is never lost. */
export function toSections(there: readonly string[]): readonly Section[] {
  const listed = named.flatMap(({ sources }) => sources);
  const others = there.filter((source) => !listed.includes(source));
  return others.length === 0 ? named : [...named, { title: 'More', sources: others }];
}

/** The name of a page without its ending: the README is the first page. */
export function nameOf(source: string): string {
  if (source === 'README.md') return 'index';
  return source
    .replace(/^docs\//, '')
    .replace(/\.md$/, '')
    .toLowerCase();
}
