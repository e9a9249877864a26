import { politeNews, urgentNews } from '../browser/announce.ts';

/** Where a screen reader hears news. */
export function Announcer() {
  return (
    <div class="visually-hidden">
      <div aria-live="polite">{politeNews.value}</div>
      <div aria-live="assertive">{urgentNews.value}</div>
    </div>
  );
}
