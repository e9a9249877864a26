import type { Argv, CheckCommand, Detector, ProjectDirectory } from '../core/projects/profile.ts';

const golangciFiles = ['.golangci.yml', '.golangci.yaml', '.golangci.toml', '.golangci.json'];
const vet: CheckCommand = { tool: 'go-vet', argv: ['go', 'vet', '$FILES'] };

/** `gofmt -l` and `-d` exit with 0 whatever they find. */
const formatCheck: Argv = [
  'sh',
  '-c',
  'diff=$(gofmt -d "$@") && printf "%s" "$diff" && test -z "$diff"',
  'gofmt',
  '$FILES',
];

export const go: Detector = {
  language: 'go',
  aliases: ['golang'],
  isMarker: (name) => name === 'go.mod',
  detect: async (project) => ({
    language: 'go',
    ecosystem: 'go',
    directory: project.path,
    extensions: ['.go'],
    packageManager: 'go',
    install: ['go', 'mod', 'download'],
    format: ['gofmt', '-w', '$FILES'],
    formatCheck,
    lint: await findLint(project),
    typecheck: vet,
    // The linter and the test runner convert files to packages, because Go rejects files of two packages.
    test: { tool: 'go-test', argv: ['go', 'test', '$FILES'] },
    scripts: {},
    coversBelow: false,
  }),
};

async function findLint(project: ProjectDirectory): Promise<CheckCommand> {
  const settings = project.findAbove(...golangciFiles);
  if (settings === undefined) return vet;
  const isSecond = /^[ \t{]*"?version"?[ \t]*[:=][ \t]*["']?2\b/m.test((await project.read(settings)) ?? '');
  const json = isSecond ? '--output.json.path=stdout' : '--out-format=json';
  // Version 2 reports paths relative to its settings file, unless `--path-mode` says otherwise.
  const paths = isSecond && settings.startsWith('../') ? ['--path-mode=abs'] : [];
  return { tool: 'golangci-lint', argv: ['golangci-lint', 'run', json, ...paths, '$FILES'] };
}
