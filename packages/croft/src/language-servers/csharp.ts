import { gigabyte, type LanguageServerDefinition, longIdleMs } from '../core/code/ports/language-server-definition.ts';

export const csharp: LanguageServerDefinition = {
  name: 'roslyn-language-server',
  languages: { '.cs': 'csharp' },
  program: { kind: 'path', name: 'roslyn-language-server' },
  args: ['--stdio', '--autoLoadProjects'],
  safe: { refusal: 'it runs MSBuild and analyzers of the project' },
  ready: { kind: 'notification', method: 'workspace/projectInitializationComplete' },
  memoryBytes: 3 * gigabyte,
  idleMs: longIdleMs,
  install: 'Install .NET 10 and the roslyn-language-server tool, and put it on the PATH of Croft.',
};
