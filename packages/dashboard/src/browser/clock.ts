import { signal } from '@preact/signals';

/** The time, for everything that says how long ago something was. */
export const now = signal(Date.now());

const everyMs = 5000;
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, everyMs);
document.addEventListener('visibilitychange', () => {
  now.value = Date.now();
});
