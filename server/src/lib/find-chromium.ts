import { accessSync, constants, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome']
/** The path of the program in a browser folder of Playwright's cache. */
const CACHED = [
  'chrome-linux/chrome',
  'chrome-linux64/chrome',
  'chrome-linux/headless_shell',
  'chrome-headless-shell-linux64/chrome-headless-shell',
]

/** Instructions for the case that no Chromium is found. */
export const INSTALL_CHROMIUM =
  'install a Chromium (npx playwright-core install chromium; Debian: apt-get install chromium), or set CHROME_PATH to the path of one'

type Env = Readonly<Record<string, string | undefined>>

/**
 * Returns the path of the Chromium that renders pages: the one that is set, else the one of CHROME_PATH, PATH
 * or the cache of Playwright.
 */
export function findChromium(setting: string | undefined, env: Env = process.env): string | null {
  if (setting === 'none') return null
  if (setting !== undefined) return setting
  const onPath = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  const named = NAMES.flatMap((name) => onPath.map((folder) => join(folder, name)))
  const chosen = env['CHROME_PATH']
  const places = [
    ...(chosen === undefined || chosen === '' ? [] : [chosen]),
    ...named,
    ...cachedChromiums(env),
  ]
  return places.find(isProgram) ?? null
}

/** Returns the Chromium programs in the cache of Playwright, newest first. */
function cachedChromiums(env: Env): string[] {
  const cache = env['PLAYWRIGHT_BROWSERS_PATH'] ?? join(env['HOME'] ?? homedir(), '.cache', 'ms-playwright')
  return listFolder(cache)
    .filter((name) => /^chromium(_headless_shell)?-\d+$/.test(name))
    .toSorted((a, b) => revisionOf(b) - revisionOf(a))
    .flatMap((name) => CACHED.map((file) => join(cache, name, file)))
}

const revisionOf = (name: string): number => Number(name.split('-').at(-1))

function listFolder(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    // The cache does not exist.
    return []
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
