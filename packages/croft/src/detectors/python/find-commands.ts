import type { Argv, CheckCommand, Profile, ProjectDirectory } from '../../core/projects/profile.ts';
import type { PythonSettings } from './python-settings.ts';

/** Finds a tool of the project's environment. `uv run` and `poetry run` could download something first. */
function findLocalTool(project: ProjectDirectory, name: string): Promise<string> {
  return project.findProgram(['.venv/bin', 'venv/bin', 'env/bin'], name);
}

async function isInstalled(project: ProjectDirectory, name: string): Promise<boolean> {
  return (await findLocalTool(project, name)) !== name;
}

async function toCheck(project: ProjectDirectory, tool: string, ...rest: string[]): Promise<CheckCommand> {
  return { tool, argv: [await findLocalTool(project, tool), ...rest] };
}

type Find<T> = (project: ProjectDirectory, settings: PythonSettings) => Promise<T>;

const usesRuff: Find<boolean> = async (project, { tools }) =>
  'ruff' in tools || project.findAbove('ruff.toml', '.ruff.toml') !== undefined || isInstalled(project, 'ruff');

export const findLint: Find<CheckCommand | undefined> = async (project, settings) => {
  const { tools, sections } = settings;
  if (await usesRuff(project, settings)) return toCheck(project, 'ruff', 'check', '$FILES');
  if ('flake8' in tools || sections.has('flake8') || project.findAbove('.flake8')) {
    return toCheck(project, 'flake8', '$FILES');
  }
  const hasPylint = 'pylint' in tools || [...sections].some((name) => /^pylint\b/i.test(name));
  if (hasPylint || project.findAbove('.pylintrc', 'pylintrc', '.pylintrc.toml', 'pylintrc.toml')) {
    return toCheck(project, 'pylint', '$FILES');
  }
  return undefined;
};

/** Builds the mypy command. Mypy reads the first settings file that exists, which may name the files to check. */
async function toMypy(project: ProjectDirectory, tools: PythonSettings['tools']): Promise<CheckCommand> {
  const check = await toCheck(project, 'mypy', '$FILES');
  const own = ['mypy.ini', '.mypy.ini'].find((name) => project.has(name));
  const isNamed =
    own !== undefined || !('mypy' in tools) ? namesFiles(await project.read(own ?? 'setup.cfg')) : namesIn(tools.mypy);
  return isNamed ? { ...check, isConfigured: true } : check;
}

function namesFiles(text = ''): boolean {
  const [, section = ''] = /^\[mypy\]([^[]*)/m.exec(text) ?? [];
  return /^(files|packages|modules)\s*[=:]/m.test(section);
}

function namesIn(table: unknown): boolean {
  return typeof table === 'object' && table !== null && ['files', 'packages', 'modules'].some((key) => key in table);
}

export const findTypecheck: Find<CheckCommand | undefined> = async (project, { tools, sections, text }) => {
  const isMypy = 'mypy' in tools || sections.has('mypy') || project.findAbove('mypy.ini', '.mypy.ini');
  if (isMypy) return toMypy(project, tools);
  if ('pyright' in tools || 'basedpyright' in tools || project.findAbove('pyrightconfig.json')) {
    return toCheck(project, 'pyright', '$FILES');
  }
  return mentions(text, 'mypy') ? toCheck(project, 'mypy', '$FILES') : undefined;
};

/** Black wins if it is set up, even if ruff is the linter. */
export const findFormat: Find<Pick<Profile, 'format' | 'formatCheck'>> = async (project, settings) => {
  if ('black' in settings.tools || project.findAbove('.black')) {
    const black = await findLocalTool(project, 'black');
    return { format: [black, '$FILES'], formatCheck: [black, '--check', '--diff', '$FILES'] };
  }
  if (!(await usesRuff(project, settings))) return {};
  const ruff = await findLocalTool(project, 'ruff');
  return {
    format: [ruff, 'format', '$FILES'],
    formatCheck: [ruff, 'format', '--check', '--diff', '$FILES'],
  };
};

const unittest: Argv = ['python3', '-m', 'unittest', '$FILES'];

export const findTest: Find<CheckCommand> = async (project, settings) => {
  const { tools, sections } = settings;
  if (await usesPytest(project, settings)) return toCheck(project, 'pytest', '$FILES');
  if ('nose2' in tools || sections.has('unittest') || project.has('unittest.cfg', 'nose2.cfg')) {
    return toCheck(project, 'nose2').then(({ argv }) => ({ tool: 'script', argv }));
  }
  if (project.has('manage.py')) return { tool: 'unittest', argv: ['python3', 'manage.py', 'test', '$FILES'] };
  // Most packages use pytest; a few loose files get unittest, which comes with Python.
  const isPackaged = project.has('pyproject.toml', 'setup.py', 'setup.cfg');
  return isPackaged ? toCheck(project, 'pytest', '$FILES') : { tool: 'unittest', argv: unittest };
};

const usesPytest: Find<boolean> = async (project, { tools, sections, text }) =>
  'pytest' in tools ||
  sections.has('tool:pytest') ||
  sections.has('pytest') ||
  project.has('pytest.ini', '.pytest.ini', 'pytest.toml', '.pytest.toml', 'conftest.py') ||
  mentions(text, 'pytest') ||
  isInstalled(project, 'pytest');

/** Whether a text names a dependency: at the start of a line or of a string. */
function mentions(text: string, name: string): boolean {
  return new RegExp(`(?:^|["'])[ \\t]*${name}\\b`, 'm').test(text);
}
