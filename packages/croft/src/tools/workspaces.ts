import { z } from 'zod';
import type { Argv, Profile } from '../core/projects/profile.ts';
import { defineTool } from '../core/tools/tool.ts';
import type { Workspace } from '../core/workspace/workspace.ts';

const ProjectOutput = z.object({
  language: z.string(),
  ecosystem: z.string(),
  directory: z.string().describe('From the workspace root, which is empty'),
  packageManager: z.string().optional(),
  install: z.string().optional(),
  format: z.string().optional(),
  lint: z.string().optional(),
  typecheck: z.string().optional(),
  test: z.string().optional(),
  scripts: z.array(z.string()),
});

export const workspaces = defineTool({
  name: 'workspaces',
  aliases: ['Workspaces'],
  title: 'List workspaces',
  description:
    'List the workspaces: name, root, whether files may be changed, and the projects in them with their commands and scripts.',
  toolset: 'session',
  isEveryday: true,
  access: 'read',
  reach: 'none',
  input: z.object({}),
  output: z.object({
    workspaces: z.array(
      z.object({
        name: z.string(),
        root: z.string().describe('Absolute path of the root; paths below it may be used instead of relative ones'),
        access: z.enum(['read-write', 'read-only']),
        profile: z.object({
          ecosystems: z.array(z.string()),
          projects: z.array(ProjectOutput),
          problems: z.array(z.string()).describe('Errors in a croft.toml, which is ignored there'),
        }),
      }),
    ),
  }),
  async run(_input, { workspaces: set }) {
    const rows = await Promise.all(set.list().map(describe));
    return { text: rows.flatMap(render).join('\n'), structured: { workspaces: rows } };
  },
});

type Row = Awaited<ReturnType<typeof describe>>;

function render({ name, root, access, profile: { ecosystems, projects, problems } }: Row): string[] {
  return [
    [name, root, access, ecosystems.join('+')].join('\t'),
    ...problems.map((problem) => `\t${problem}`),
    ...projects.flatMap(renderProject).map((line) => `\t${line}`),
  ];
}

const commandNames = ['install', 'format', 'lint', 'typecheck', 'test'] as const;

function renderProject(project: Row['profile']['projects'][number]): string[] {
  const { directory, ecosystem, packageManager, scripts } = project;
  const commands = commandNames.flatMap((name) => (project[name] === undefined ? [] : [`  ${name}: ${project[name]}`]));
  return [
    `${directory === '' ? 'in the root' : `in ${directory}`}: ${[ecosystem, packageManager].filter(Boolean).join(', ')}`,
    ...commands,
    ...(scripts.length === 0 ? [] : [`  scripts: ${scripts.join(', ')}`]),
  ];
}

async function describe({ name, root, access, checks }: Workspace) {
  const projects = await checks.projects();
  const ecosystems = [...new Set(projects.map(({ ecosystem }) => ecosystem))];
  const problems = projects.flatMap((project) => project.problems ?? []);
  return { name, root, access, profile: { ecosystems, projects: projects.map(toOutput), problems } };
}

function toOutput({
  language,
  ecosystem,
  directory,
  packageManager,
  install,
  format,
  lint,
  typecheck,
  test,
  scripts,
}: Profile) {
  const line = (argv: Argv | undefined) => argv?.join(' ');
  return {
    ...{ language, ecosystem, directory, packageManager, scripts: Object.keys(scripts) },
    ...{ install: line(install), format: line(format), lint: line(lint?.argv) },
    ...{ typecheck: line(typecheck?.argv), test: line(test?.argv) },
  };
}
