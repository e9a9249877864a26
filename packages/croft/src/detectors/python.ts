import { defineDetector } from '../core/profile.ts';

export const python = defineDetector('python', [
  'pyproject.toml',
  'setup.py',
  'setup.cfg',
  'requirements.txt',
  'Pipfile',
  'ruff.toml',
]);
