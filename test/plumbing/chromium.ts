import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { findChromium, INSTALL_CHROMIUM } from '#server/lib/find-chromium.ts'

const run = promisify(execFile)
const INSTALL_MS = 600_000

/** Returns true if a program ends with success. An installed program may lack its libraries. */
async function endsWell(program: string, args: string[], timeout: number): Promise<boolean> {
  return run(program, args, { timeout, maxBuffer: 50_000_000 }).then(
    () => true,
    () => false,
  )
}

async function findWorking(): Promise<string | null> {
  const path = findChromium(process.env['LOAM_BROWSER'])
  return path !== null && (await endsWell(path, ['--version'], 60_000)) ? path : null
}

/**
 * Returns a Chromium for tests: an installed one, or one that is installed now. Fails if neither is possible.
 */
async function requireChromium(): Promise<string> {
  const found = await findWorking()
  if (found !== null) return found
  const playwright = dirname(createRequire(import.meta.url).resolve('playwright-core/package.json'))
  await endsWell(process.execPath, [join(playwright, 'cli.js'), 'install', 'chromium'], INSTALL_MS)
  const cached = await findWorking()
  if (cached !== null) return cached
  if (process.getuid?.() === 0 && existsSync('/etc/debian_version')) {
    const wait = ['-o', 'DPkg::Lock::Timeout=300']
    await endsWell('apt-get', [...wait, 'update'], INSTALL_MS)
    await endsWell('apt-get', [...wait, 'install', '-y', 'chromium'], INSTALL_MS)
  }
  const installed = await findWorking()
  if (installed === null) throw new Error(`These tests need a Chromium: ${INSTALL_CHROMIUM}`)
  return installed
}

/** The path of the Chromium. Modules that import this wait for it before any test and its time limit. */
export const CHROMIUM: string = await requireChromium()
