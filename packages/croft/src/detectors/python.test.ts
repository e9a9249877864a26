import { describe, expect, test } from 'vitest';
import { detect, detectOne } from '../../test/support/memory-files.ts';

describe('python is detected', () => {
  test.each([
    ...['pyproject.toml', 'setup.py', 'setup.cfg', 'requirements.txt', 'Pipfile', 'ruff.toml', '.ruff.toml'],
    ...['pytest.ini', 'tox.ini', 'mypy.ini', '.flake8', 'uv.lock', 'poetry.lock'],
  ])('by %s alone, without other settings', async (name) => {
    expect(await detectOne({ [name]: '' })).toMatchObject({ language: 'python', directory: '' });
  });

  test('by loose files if there are no settings, once', async () => {
    const profile = await detectOne({ 'main.py': '', 'lib/a.py': '', 'lib/test_a.py': '' });
    expect(profile.test).toEqual({ tool: 'unittest', argv: ['python3', '-m', 'unittest', '$FILES'] });
    expect(await detectOne({ 'package.json': '{}', 'tools/gen.py': '' })).toMatchObject({ language: 'node' });
  });

  test('except for settings that build the documentation of another project', async () => {
    const tree = { 'go.mod': '', 'docs/requirements.txt': 'sphinx', 'docs/conf.py': '' };
    expect(await detectOne(tree)).toMatchObject({ language: 'go' });
    const real = { 'go.mod': '', 'tool/requirements.txt': 'x', 'tool/main.py': '' };
    expect((await detect(real)).map(({ language }) => language)).toEqual(['go', 'python']);
  });

  test('once, and not again in its tests directory', async () => {
    const tree = { 'pyproject.toml': '', 'tests/ruff.toml': '', 'tests/test_a.py': '' };
    expect(await detectOne(tree)).toMatchObject({ directory: '' });
  });
});

describe('the package manager of python', () => {
  test.each([
    [{ 'uv.lock': '', 'poetry.lock': '' }, 'uv', ['uv', 'sync']],
    [{ 'poetry.lock': '' }, 'poetry', ['poetry', 'install']],
    [{ 'pyproject.toml': '[tool.poetry]\nname="x"' }, 'poetry', ['poetry', 'install']],
    [{ 'pyproject.toml': '[tool.uv]\n' }, 'uv', ['uv', 'sync']],
    [{ 'Pipfile.lock': '' }, 'pipenv', ['pipenv', 'install', '--dev']],
    [{ 'requirements.txt': '' }, 'pip', ['pip', 'install', '-r', 'requirements.txt']],
    [{ 'setup.py': '', 'requirements.txt': '' }, 'pip', ['pip', 'install', '-e', '.']],
  ])('with %j is %s', async (tree, packageManager, install) => {
    expect(await detectOne(tree)).toMatchObject({ packageManager, install });
  });
});

describe('the checks of python', () => {
  test.each([
    [{ 'pyproject.toml': '[tool.ruff.lint]\nselect = ["E"]' }, 'ruff'],
    [{ 'pyproject.toml': '[tool.ruff]\n' }, 'ruff'],
    [{ 'pyproject.toml': 'tool = { ruff = { line-length = 100 } }' }, 'ruff'],
    [{ 'ruff.toml': '' }, 'ruff'],
    [{ 'setup.py': '', '.venv/bin/ruff': '' }, 'ruff'],
    [{ 'setup.cfg': '[flake8]\nmax-line-length = 100\n' }, 'flake8'],
    [{ 'setup.py': '', '.flake8': '' }, 'flake8'],
    [{ 'pyproject.toml': '[tool.pylint.main]\n' }, 'pylint'],
    [{ 'setup.py': '', '.pylintrc': '' }, 'pylint'],
  ])('lint %j with %s', async (tree, tool) => {
    expect((await detectOne(tree)).lint?.tool).toBe(tool);
  });

  test('ignores a setting in a comment', async () => {
    expect((await detectOne({ 'pyproject.toml': '# [tool.ruff]\n' })).lint).toBeUndefined();
  });

  test.each(['[tool.ruff', '[a]\n[a]\n', '\u0000'])('survive invalid TOML: %j', async (text) => {
    expect(await detectOne({ 'pyproject.toml': text })).toMatchObject({ language: 'python', scripts: {} });
  });

  test.each([
    [{ 'pyproject.toml': '[tool.mypy]\n' }, 'mypy'],
    [{ 'setup.cfg': '[mypy]\n' }, 'mypy'],
    [{ 'mypy.ini': '' }, 'mypy'],
    [{ 'setup.py': '', 'pyrightconfig.json': '' }, 'pyright'],
  ])('types of %j are checked by %s', async (tree, tool) => {
    expect((await detectOne(tree)).typecheck?.tool).toBe(tool);
  });

  test.each([
    [{ 'pyproject.toml': '[tool.mypy]\nfiles = ["src"]\n' }, true],
    [{ 'pyproject.toml': '[tool.mypy]\npackages = "a"\n' }, true],
    [{ 'pyproject.toml': '[tool.mypy]\nstrict = true\n' }, undefined],
    [{ 'setup.cfg': '[mypy]\nstrict = True\nfiles =\n  a.py\n[mypy-x.*]\nignore = True\n' }, true],
    [{ 'setup.cfg': '[mypy]\nstrict = True\n[metadata]\nfiles = x\n' }, undefined],
    [{ 'mypy.ini': '[mypy]\nmodules=a\n', 'pyproject.toml': '[tool.mypy]\n' }, true],
    [{ 'mypy.ini': '[mypy]\n', 'pyproject.toml': '[tool.mypy]\nfiles = "a"\n' }, undefined],
  ])('mypy by %j has targets in its settings: %s', async (tree, isConfigured) => {
    const { typecheck } = await detectOne(tree);
    expect(typecheck).toMatchObject({ tool: 'mypy', argv: ['mypy', '$FILES'] });
    expect(typecheck?.isConfigured).toBe(isConfigured);
  });

  test('format with black if it is configured, and with ruff otherwise', async () => {
    const both = await detectOne({ 'pyproject.toml': '[tool.ruff]\n[tool.black]\n' });
    expect(both.format).toEqual(['black', '$FILES']);
    const ruff = await detectOne({ 'ruff.toml': '' });
    expect(ruff.formatCheck).toEqual(['ruff', 'format', '--check', '--diff', '$FILES']);
    expect((await detectOne({ 'setup.py': '' })).format).toBeUndefined();
  });

  test.each([
    [{ 'pyproject.toml': '' }, 'pytest', 'pytest'],
    [{ 'requirements.txt': 'flask\npytest>=8\n' }, 'pytest', 'pytest'],
    [{ 'requirements.txt': 'flask\n' }, 'unittest', 'python3'],
    [{ 'requirements.txt': '', 'conftest.py': '' }, 'pytest', 'pytest'],
    [{ 'pyproject.toml': '[tool.nose2]\n' }, 'script', 'nose2'],
    [{ 'requirements.txt': 'django\n', 'manage.py': '' }, 'unittest', 'python3'],
    [{ 'setup.py': '', 'venv/bin/pytest': '' }, 'pytest', './venv/bin/pytest'],
    [{ 'pytest.ini': '', '.venv/bin/pytest': '' }, 'pytest', './.venv/bin/pytest'],
  ])('run the tests of %j with %s', async (tree, tool, program) => {
    const found = (await detectOne(tree)).test;
    expect([found?.tool, found?.argv[0]]).toEqual([tool, program]);
  });

  test('run scripts with the tool that defines them', async () => {
    const text = [
      '[project.scripts]\napp = "a:main"',
      '[tool.poetry.scripts]\nserve = "a:serve"',
      '[tool.hatch.envs.default.scripts]\ncov = "pytest --cov"',
      '[tool.pdm.scripts]\nlint = "x"',
      '[tool.poe.tasks]\ndocs = "x"',
    ].join('\n');
    expect((await detectOne({ 'pyproject.toml': text, 'uv.lock': '' })).scripts).toEqual({
      app: ['uv', 'run', '--no-sync', 'app'],
      serve: ['poetry', 'run', 'serve'],
      cov: ['hatch', 'run', 'cov'],
      lint: ['pdm', 'run', 'lint'],
      docs: ['poe', 'docs'],
    });
  });
});
