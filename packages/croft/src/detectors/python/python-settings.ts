import { parse } from 'smol-toml';
import { z } from 'zod';
import { parseSettings } from '../../core/projects/parse-settings.ts';
import type { ProjectDirectory } from '../../core/projects/profile.ts';

const Table = z.record(z.string(), z.unknown()).catch({}).default({});
const Pyproject = z.object({ tool: Table, project: Table });
const Pipfile = z.object({ scripts: Table });

/** The combined settings of a Python project's files. */
export interface PythonSettings {
  /** The tables below `tool` in pyproject.toml. */
  readonly tools: Readonly<Record<string, unknown>>;
  /** The names of sections in setup.cfg and tox.ini. */
  readonly sections: ReadonlySet<string>;
  /** Texts of all files that may name a dependency. */
  readonly text: string;
  readonly scripts: Readonly<Record<string, readonly string[]>>;
}

const dependencyFiles = [
  ...['pyproject.toml', 'setup.py', 'setup.cfg', 'tox.ini', 'Pipfile', 'requirements.txt'],
  ...['requirements-dev.txt', 'requirements_dev.txt', 'dev-requirements.txt', 'test-requirements.txt'],
];

export async function readPythonSettings(project: ProjectDirectory): Promise<PythonSettings> {
  const texts = new Map<string, string>();
  for (const name of dependencyFiles) {
    if (project.has(name)) texts.set(name, (await project.read(name)) ?? '');
  }
  const pyproject = parseSettings(texts.get('pyproject.toml'), parse, Pyproject);
  const pipfile = parseSettings(texts.get('Pipfile'), parse, Pipfile);
  const tools = pyproject?.tool ?? {};
  return {
    tools,
    sections: new Set([...sectionsOf(texts.get('setup.cfg')), ...sectionsOf(texts.get('tox.ini'))]),
    text: [...texts.values()].join('\n'),
    scripts: {
      project: namesIn(pyproject?.project, 'scripts'),
      poetry: namesIn(tools, 'poetry', 'scripts'),
      pdm: namesIn(tools, 'pdm', 'scripts'),
      hatch: namesIn(tools, 'hatch', 'envs', 'default', 'scripts'),
      poe: namesIn(tools, 'poe', 'tasks'),
      taskipy: namesIn(tools, 'taskipy', 'tasks'),
      pipenv: Object.keys(pipfile?.scripts ?? {}),
    },
  };
}

function sectionsOf(text = ''): string[] {
  return [...text.matchAll(/^\[([^\]\n]{1,100})\]/gm)].map(([, name = '']) => name.trim());
}

/** Returns the keys of a nested table, or none. */
function namesIn(table: unknown, ...path: readonly string[]): string[] {
  let at = table;
  for (const name of path) {
    const isTable = typeof at === 'object' && at !== null && Object.hasOwn(at, name);
    at = isTable ? Reflect.get(at as object, name) : undefined;
  }
  return typeof at === 'object' && at !== null ? Object.keys(at) : [];
}
