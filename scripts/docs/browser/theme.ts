const themes = ['system', 'light', 'dark'];
const key = 'croft-theme';

/** Without storage, as in a private window, the theme is that of the system. */
function read(): string {
  try {
    return localStorage.getItem(key) ?? 'system';
  } catch {
    return 'system';
  }
}

function show(theme: string, button: HTMLElement): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  button.textContent = `Theme: ${theme}`;
}

/** The page of the server keeps its theme under the same name. */
export function connectTheme(): void {
  const button = document.querySelector<HTMLElement>('.theme');
  if (!button) return;
  let theme = read();
  show(theme, button);
  button.hidden = false;
  button.addEventListener('click', () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system';
    show(theme, button);
    try {
      localStorage.setItem(key, theme);
    } catch {
      // The theme holds for this page.
    }
  });
}
