import { formatWholeOrFiles } from '../core/projects/format-whole-or-files.ts';
import { type Detector, toScripts } from '../core/projects/profile.ts';

export const elixir: Detector = {
  language: 'elixir',
  aliases: ['ex', 'mix'],
  isMarker: (name) => name === 'mix.exs',
  async detect(project) {
    const text = (await project.read('mix.exs')) ?? '';
    const isCredo = project.has('.credo.exs') || text.includes('{:credo,');
    return {
      language: 'elixir',
      ecosystem: 'elixir',
      directory: project.path,
      extensions: ['.ex', '.exs'],
      packageManager: 'mix',
      install: ['mix', 'deps.get'],
      dependencyDirectory: 'deps',
      format: formatWholeOrFiles(['mix', 'format'], ['mix', 'format']),
      formatCheck: formatWholeOrFiles(['mix', 'format', '--check-formatted'], ['mix', 'format', '--check-formatted']),
      ...(isCredo && { lint: { tool: 'credo', argv: ['mix', 'credo', '--format=json', '$FILES'] } }),
      test: { tool: 'mix-test', argv: ['mix', 'test', '$FILES'] },
      scripts: toScripts(findAliases(text), (name) => ['mix', name]),
      // An umbrella project runs its applications.
      coversBelow: text.includes('apps_path:'),
    };
  },
};

/** Returns the keys of the list in `aliases`, in its usual form. */
function findAliases(text: string): string[] {
  const start = text.search(/\bdefp? aliases\b/);
  if (start < 0) return [];
  const body = text.slice(start, start + 5000).split(/\n {2}end\b/)[0] ?? '';
  return [...body.matchAll(/^\s*\[?\s*"?([a-z][\w.]*)"?: /gm)].map(([, name = '']) => name);
}
