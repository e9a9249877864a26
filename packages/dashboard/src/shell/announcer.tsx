import { politeNews, urgentNews } from '../browser/announce.ts';

/** The elements whose text a screen reader reads out. */
export function Announcer() {
  return (
    <div class="visually-hidden">
      <div aria-live="polite">{politeNews.value}</div>
      <div aria-live="assertive">{urgentNews.value}</div>
    </div>
  );
}
