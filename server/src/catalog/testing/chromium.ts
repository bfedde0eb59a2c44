import { existsSync } from 'node:fs'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** A Chromium of this machine; tests that need one are skipped where there is none (Debian: apt-get install chromium). */
export const CHROMIUM = [process.env['LOAM_BROWSER'], ...PLACES].find(
  (path) => path !== undefined && existsSync(path),
)
export const NEEDS_CHROMIUM =
  CHROMIUM === undefined ? ' (skipped: no Chromium here; set LOAM_BROWSER or install one)' : ''
