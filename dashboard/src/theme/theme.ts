export const THEMES = ['light', 'dark', 'system'] as const
export type Theme = (typeof THEMES)[number]

const KEY = 'loam.theme'

export function readTheme(): Theme {
  const stored = localStorage.getItem(KEY)
  return THEMES.find((theme) => theme === stored) ?? 'system'
}

/** Applies and stores a theme. `system` removes the attribute, so that the page follows `prefers-color-scheme`. */
export function applyTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme)
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}
