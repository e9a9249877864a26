import { signal } from '@preact/signals';

const themes = ['system', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];

export const theme = signal<Theme>(readTheme());

export function applyTheme(): void {
  theme.subscribe((chosen) => {
    if (chosen === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = chosen;
  });
}

export function setTheme(chosen: Theme): void {
  theme.value = chosen;
  localStorage.setItem('croft-theme', chosen);
}

export function nextTheme(): Theme {
  return themes[(themes.indexOf(theme.peek()) + 1) % themes.length] ?? 'system';
}

function readTheme(): Theme {
  const saved = localStorage.getItem('croft-theme');
  return themes.find((name) => name === saved) ?? 'system';
}
