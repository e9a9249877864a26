import { gigabyte, idleMs, type LanguageServerDefinition } from '../core/code/ports/language-server-definition.ts';

export const bash: LanguageServerDefinition = {
  name: 'bash-language-server',
  languages: { '.sh': 'shellscript', '.bash': 'shellscript', '.bats': 'shellscript' },
  program: { kind: 'path', name: 'bash-language-server' },
  args: ['start'],
  environment: { EXPLAINSHELL_ENDPOINT: '' },
  ready: { kind: 'log', pattern: /BackgroundAnalysis: (?:Completed|skipping|stopped)/ },
  rereadsOnlyOpen: true,
  memoryBytes: gigabyte,
  idleMs,
  install: 'Install bash-language-server: npm install --global bash-language-server.',
};
