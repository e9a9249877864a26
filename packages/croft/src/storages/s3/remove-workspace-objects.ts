import type { ObjectStore } from '../../core/storage/object-store.ts';

/** The prefixes of all objects of a workspace. Croft's own data about it comes first. */
export const workspacePrefixes = (namespace: string): string[] => [`.croft/${namespace}/`, `${namespace}/`];

/** Removes all objects of one workspace and no other object of the bucket, which may belong to a customer. */
export async function removeWorkspaceObjects(objects: ObjectStore, namespace: string): Promise<void> {
  // The head goes first: without it nobody takes the remaining objects for a complete workspace.
  for (const prefix of workspacePrefixes(namespace)) {
    for await (const page of objects.list(prefix)) await objects.remove(page.map(({ key }) => key));
  }
}
