import type { ObjectStore } from '../../core/objects.ts';

/** Takes away everything of one workspace, and nothing else of the bucket, which may be a customer's own. */
export async function removeWorkspaceObjects(objects: ObjectStore, namespace: string): Promise<void> {
  // What Croft keeps about it goes first: without a head nobody takes the rest for a workspace that is whole.
  for (const prefix of [`.croft/${namespace}/`, `${namespace}/`]) {
    for await (const page of objects.list(prefix)) await objects.remove(page.map(({ key }) => key));
  }
}
