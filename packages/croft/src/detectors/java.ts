import type { Argv, CheckCommand, Detector, Profile, ProjectDirectory } from '../core/projects/profile.ts';

const gradleFiles = ['build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts'];

type Commands = Pick<
  Profile,
  'ecosystem' | 'packageManager' | 'install' | 'format' | 'formatCheck' | 'typecheck' | 'test' | 'coversBelow'
>;

export const java: Detector = {
  language: 'java',
  aliases: ['kotlin', 'kt', 'jvm', 'maven', 'gradle'],
  isMarker: (name) => name === 'pom.xml' || gradleFiles.includes(name),
  isTrace: (name) => name.endsWith('.java'),
  async detect(project) {
    const commands = await findCommands(project);
    const base = { language: 'java', directory: project.path, extensions: ['.java', '.kt', '.kts'], scripts: {} };
    return { ...base, ...commands };
  },
};

async function findCommands(project: ProjectDirectory): Promise<Commands> {
  if (project.has('pom.xml')) return toMaven(project, (await project.read('pom.xml')) ?? '');
  if (project.has(...gradleFiles)) return toGradle(project);
  const all = project.filesBelow(['.java']);
  // Stops javac before it writes classes, which nobody asked for. The second option is for Java 8.
  const stop: Argv = ['-XDshould-stop.ifNoError=FLOW', '-XDshouldStopPolicyIfNoError=FLOW'];
  const argv: Argv = ['javac', '-Xlint:all', '-proc:none', ...stop, '$FILES'];
  return { ecosystem: 'java', typecheck: { tool: 'javac', argv, all } };
}

/** Returns the project's wrapper, which fixes the version, or else the program on the PATH. */
async function findBuilder(project: ProjectDirectory, wrapper: string, builder: string): Promise<string> {
  const program = await project.findProgram([''], wrapper);
  return program === wrapper ? builder : program;
}

async function toMaven(project: ProjectDirectory, text: string): Promise<Commands> {
  const maven = await findBuilder(project, 'mvnw', 'mvn');
  const run = (...goals: string[]): Argv => [maven, '--batch-mode', ...goals];
  const typecheck: CheckCommand = { tool: 'maven-compile', argv: run('test-compile') };
  return {
    ecosystem: text.includes('kotlin-maven-plugin') ? 'kotlin' : 'java',
    packageManager: 'maven',
    install: run('dependency:go-offline'),
    typecheck,
    test: { tool: 'maven', argv: run('test') },
    coversBelow: text.includes('<modules>'),
    ...(text.includes('spotless-maven-plugin') && {
      format: run('spotless:apply'),
      formatCheck: run('spotless:check'),
    }),
  };
}

async function toGradle(project: ProjectDirectory): Promise<Commands> {
  const gradle = await findBuilder(project, 'gradlew', 'gradle');
  const texts = await Promise.all(gradleFiles.filter((name) => project.has(name)).map((name) => project.read(name)));
  const text = texts.join('\n');
  const run = (...tasks: string[]): Argv => [gradle, '--console=plain', ...tasks];
  const isKotlin = /\bkotlin\s*\(|org\.jetbrains\.kotlin|\bkotlin-(?:gradle|dsl)/.test(text);
  return {
    ecosystem: isKotlin ? 'kotlin' : 'java',
    packageManager: 'gradle',
    install: run('dependencies'),
    typecheck: { tool: 'gradle-compile', argv: run('testClasses') },
    test: { tool: 'gradle', argv: run('test') },
    coversBelow: project.has('settings.gradle', 'settings.gradle.kts'),
    ...(text.includes('spotless') && { format: run('spotlessApply'), formatCheck: run('spotlessCheck') }),
  };
}
