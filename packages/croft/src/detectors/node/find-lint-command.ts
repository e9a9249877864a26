import type { CheckCommand, ProjectDirectory } from '../../core/projects/profile.ts';
import { configFileNames, findLocalTool } from './find-local-tool.ts';
import { dependsOn, type NodePackageManager, type PackageManifest } from './package-manifest.ts';
import { readBareScript } from './read-bare-script.ts';

export const biomeFiles = ['biome.json', 'biome.jsonc', '.biome.json', '.biome.jsonc'];
const oxlintFiles = ['.oxlintrc.json', '.oxlintrc.jsonc', 'oxlintrc.json'];
const eslintFiles = [
  ...configFileNames('eslint.config'),
  ...['.eslintrc', '.eslintrc.json', '.eslintrc.js', '.eslintrc.cjs', '.eslintrc.yml', '.eslintrc.yaml'],
];
const xoFiles = [...configFileNames('xo.config'), '.xo-config', '.xo-config.json', '.xo-config.js', '.xo-config.cjs'];

/** Options with a value in the next word, of all linters together: no option has two meanings. */
const valued = new Set(
  [
    '-c --config --config-path --ext --env --global --parser --parser-options --plugin --rule --rulesdir --ignore-path',
    '--ignore-pattern --ignore --max-warnings --cache-file --cache-location --cache-strategy --flag --stdin-filename',
    '--resolve-plugins-relative-to --report-unused-disable-directives-severity --max-diagnostics --diagnostic-level',
    '--only --skip --colors --log-level --log-kind -D -A -W --deny --allow --warn --tsconfig --threads --cwd --space',
    '--prettier --vcs-root --since',
  ].flatMap((line) => line.split(' ')),
);
/** Options that set the output format, which the reader chooses. */
const answering = { flags: [], valued: ['-f', '--format', '--reporter', '-o', '--output-file'] };

/**
 * Finds the linter: what the script `lint` runs, if that is one known linter; else the one with a settings file. A
 * script that does more runs as it is for the whole project.
 */
export async function findLintCommand(
  project: ProjectDirectory,
  manifest: PackageManifest | undefined,
  manager: NodePackageManager,
): Promise<CheckCommand | undefined> {
  const bySettings = await findBySettings(project, manifest);
  if (!manifest || !Object.hasOwn(manifest.scripts, 'lint')) return bySettings;
  const script = manifest.scripts.lint ?? '';
  const bare = readBareScript(manifest, 'lint', {
    tools: ['biome', 'oxlint', 'eslint', 'xo', 'standard'],
    valued,
    answering,
  });
  if (bare) {
    const { tool, verb, options, operands } = bare;
    const argv = [...(await findLocalTool(project, tool)), ...verb, ...options, '$FILES'] as const;
    return operands.length > 0 ? { tool, argv, all: operands } : { tool, argv };
  }
  // A script that fixes its findings is not a check.
  if (/(^|\s)(--fix|--write|--autofix|-w)(?![\w-])/.test(script)) return bySettings;
  const whole = { tool: 'lint-script', argv: [manager, 'run', 'lint'] } as const;
  return bySettings ? { ...bySettings, whole } : whole;
}

/** A settings file is enough; the tool itself reports whether it is valid. */
async function findBySettings(
  project: ProjectDirectory,
  manifest: PackageManifest | undefined,
): Promise<CheckCommand | undefined> {
  if (project.findAbove(...biomeFiles)) return toCheck(project, 'biome', 'lint', '$FILES');
  if (project.findAbove(...oxlintFiles)) return toCheck(project, 'oxlint', '$FILES');
  if (project.findAbove(...eslintFiles) || manifest?.eslintConfig) return toCheck(project, 'eslint', '$FILES');
  if (project.has(...xoFiles) || (manifest && (manifest.xo || dependsOn(manifest, 'xo'))))
    return toCheck(project, 'xo', '$FILES');
  return manifest && dependsOn(manifest, 'standard') ? toCheck(project, 'standard', '$FILES') : undefined;
}

export async function toCheck(project: ProjectDirectory, tool: string, ...rest: string[]): Promise<CheckCommand> {
  return { tool, argv: [...(await findLocalTool(project, tool)), ...rest] };
}
