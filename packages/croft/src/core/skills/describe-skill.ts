import { readFrontMatter } from './front-matter.ts';
import { type FileHead, toSafeLine } from './read-file-head.ts';

export interface SkillDescription {
  readonly name: string;
  readonly description: string;
}

export interface AgentDescription extends SkillDescription {
  /** The tools as written. Left out: those of the caller that starts the agent. */
  readonly tools?: string | undefined;
  readonly model?: string | undefined;
}

const maxName = 64;
const maxDescription = 1024;
const maxFirstLine = 200;

/** Describes a skill by its front matter, or else by its directory and the first line of its text. */
export function describeSkill({ text }: FileHead, directory: string): SkillDescription {
  const front = readFrontMatter(text);
  const name = toSafeLine(front?.values.get('name') ?? '', maxName);
  const description = toSafeLine(front?.values.get('description') ?? '', maxDescription);
  return {
    name: name === '' ? toSafeLine(directory, maxName) : name,
    description: description === '' ? firstLine(front?.body ?? text) : description,
  };
}

/** Describes an agent by its front matter; `undefined` for a file without a name and a description. */
export function describeAgent({ text }: FileHead, file: string): AgentDescription | undefined {
  const values = readFrontMatter(text)?.values;
  const [name, description, tools, model] = ['name', 'description', 'tools', 'model'].map((key) =>
    toSafeLine(values?.get(key) ?? '', key === 'name' ? maxName : maxDescription),
  );
  if (!name && !description) return undefined;
  return {
    name: name || toSafeLine(file.replace(/\.md$/, ''), maxName),
    description: description ?? '',
    ...(tools && { tools }),
    ...(model && { model }),
  };
}

function firstLine(body: string): string {
  const line = body.split('\n').find((one) => /[^\s#]/.test(one)) ?? '';
  return toSafeLine(line.replace(/^#+/, ''), maxFirstLine);
}
