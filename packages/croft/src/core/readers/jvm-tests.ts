import type { JunitCase } from '../../lib/junit.ts';

/** As a stack trace names it, with the directories of the package, in the place where Gradle and Maven expect tests. */
export function toJvmFile({ className, text }: JunitCase): string | undefined {
  const [outer = ''] = className.split('$');
  const simple = outer.slice(outer.lastIndexOf('.') + 1);
  const ending = ['java', 'kt', 'groovy', 'scala'].find((one) => text.includes(`(${simple}.${one}:`));
  if (ending === undefined || simple === '') return undefined;
  const root = ending === 'kt' ? 'kotlin' : ending;
  return `src/test/${root}/${outer.replaceAll('.', '/')}.${ending}`;
}

/** The class that a file is called after. */
export function toJvmClass(file: string): string {
  return file.slice(file.lastIndexOf('/') + 1).replace(/\.\w+$/, '');
}
