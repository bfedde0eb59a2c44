import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { findChromium } from './find-chromium.ts'

const root = mkdtempSync(join(tmpdir(), 'loam-find-'))
afterAll(() => rmSync(root, { recursive: true }))

function makeProgram(path: string, mode = 0o755): string {
  const whole = join(root, path)
  mkdirSync(dirname(whole), { recursive: true })
  writeFileSync(whole, '#!/bin/sh\n')
  chmodSync(whole, mode)
  return whole
}

const chosen = makeProgram('own/my-chrome')
const onPath = makeProgram('bin/chromium')
const old = makeProgram('home/.cache/ms-playwright/chromium-99/chrome-linux/chrome')
const cached = makeProgram('home/.cache/ms-playwright/chromium-1200/chrome-linux64/chrome')
makeProgram('home/.cache/ms-playwright/firefox-2000/chrome-linux/chrome')
const [PATH, HOME] = [join(root, 'bin'), join(root, 'home')]

it.each<[string, string | undefined, Record<string, string>, string | null]>([
  ['the one that is set, whatever there is', '/set/here', { CHROME_PATH: chosen, PATH }, '/set/here'],
  ['none where that is set', 'none', { CHROME_PATH: chosen, PATH }, null],
  ['CHROME_PATH', undefined, { CHROME_PATH: chosen, PATH, HOME }, chosen],
  ['PATH, where CHROME_PATH does not exist', undefined, { CHROME_PATH: '/no/such', PATH, HOME }, onPath],
  ['the newest of the cache of Playwright', undefined, { PATH: '/no/such', HOME }, cached],
  [
    'the cache where it was put',
    undefined,
    { PATH: '', HOME: '/no/such', PLAYWRIGHT_BROWSERS_PATH: dirname(dirname(dirname(old))) },
    cached,
  ],
  ['nothing', undefined, { PATH: '', HOME: '/no/such' }, null],
])('a Chromium is found: %s', (_name, setting, env, expected) => {
  expect(findChromium(setting, env)).toBe(expected)
})
