import { isDocumentation } from '../../core/projects/is-documentation.ts';
import { type Argv, type Detector, type ProjectDirectory, toScripts } from '../../core/projects/profile.ts';
import { findFormat, findLint, findTest, findTypecheck } from './find-commands.ts';
import { type PythonSettings, readPythonSettings } from './python-settings.ts';

const markers = new Set([
  'pyproject.toml',
  'setup.py',
  'Pipfile',
  'uv.lock',
  'poetry.lock',
  'pdm.lock',
  'Pipfile.lock',
]);
const hints = new Set([
  ...['setup.cfg', 'requirements.txt', 'ruff.toml', '.ruff.toml', 'pytest.ini', 'tox.ini', 'mypy.ini', '.flake8'],
  ...['.pylintrc', 'pyrightconfig.json', 'manage.py'],
]);

type Manager = 'uv' | 'poetry' | 'pdm' | 'pipenv' | 'pip';

export const python: Detector = {
  language: 'python',
  aliases: ['py', 'python3'],
  isMarker: (name) => markers.has(name),
  isHint: (name) => hints.has(name),
  isTrace: (name) => name.endsWith('.py'),
  async detect(project) {
    if (isForDocumentation(project)) return undefined;
    const settings = await readPythonSettings(project);
    const manager = findManager(project, settings);
    return {
      language: 'python',
      ecosystem: 'python',
      directory: project.path,
      extensions: ['.py', '.pyi'],
      packageManager: manager,
      install: findInstall(project, manager),
      dependencyDirectory: ['.venv', 'venv'].find((name) => project.directories.has(name)) ?? '.venv',
      scripts: findScripts(settings, manager),
      ...(await findFormat(project, settings)),
      lint: await findLint(project, settings),
      typecheck: await findTypecheck(project, settings),
      test: await findTest(project, settings),
    };
  },
};

/**
 * Whether a directory only builds the documentation of another project: below the root, with requirements but without a
 * program, or without a package of its own.
 */
function isForDocumentation({ path, names }: ProjectDirectory): boolean {
  if (isDocumentation(path)) return !names.has('pyproject.toml') && !names.has('setup.py');
  const isPackage = [...names].some((name) => markers.has(name));
  return path !== '' && !isPackage && ![...names].some((name) => name.endsWith('.py') && name !== 'conf.py');
}

function findManager(project: ProjectDirectory, { tools }: PythonSettings): Manager {
  if (project.findAbove('uv.lock')) return 'uv';
  if (project.has('poetry.lock')) return 'poetry';
  if (project.has('pdm.lock')) return 'pdm';
  if (project.has('Pipfile.lock', 'Pipfile')) return 'pipenv';
  return (['uv', 'poetry', 'pdm'] as const).find((name) => name in tools) ?? 'pip';
}

function findInstall(project: ProjectDirectory, manager: Manager): Argv {
  if (manager === 'uv') return ['uv', 'sync'];
  if (manager === 'pipenv') return ['pipenv', 'install', '--dev'];
  if (manager !== 'pip') return [manager, 'install'];
  const isPackage = project.has('pyproject.toml', 'setup.py', 'setup.cfg');
  return isPackage || !project.has('requirements.txt')
    ? ['pip', 'install', '-e', '.']
    : ['pip', 'install', '-r', 'requirements.txt'];
}

function findScripts({ scripts }: PythonSettings, manager: Manager): ReturnType<typeof toScripts> {
  const own = (kind: string, toArgv: (name: string) => Argv) => toScripts(scripts[kind] ?? [], toArgv);
  const run = (name: string): Argv => (manager === 'uv' ? ['uv', 'run', '--no-sync', name] : [manager, 'run', name]);
  return {
    ...(manager === 'pip' ? own('project', (name) => [name]) : own('project', run)),
    ...own('pipenv', (name) => ['pipenv', 'run', name]),
    ...own('poetry', (name) => ['poetry', 'run', name]),
    ...own('pdm', (name) => ['pdm', 'run', name]),
    ...own('hatch', (name) => ['hatch', 'run', name]),
    ...own('poe', (name) => ['poe', name]),
    ...own('taskipy', (name) => ['task', name]),
  };
}
