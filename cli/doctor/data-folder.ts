import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from '#server/lib/config/config.ts'
import { reasonOf } from '#server/lib/errors.ts'
import { type Check, fail, ok, warn } from './check.ts'

const GIGABYTE = 1024 ** 3
const WARN_BELOW = GIGABYTE
const FAIL_BELOW = GIGABYTE / 10

export function checkDataFolder(config: Config): Check[] {
  const folder = checkFolder(config.LOAM_DATA_DIR)
  if (folder.status === 'fail') return [folder]
  return [folder, ...checkPrivateFiles(config.LOAM_DATA_DIR), checkSecret(config)]
}

function checkFolder(folder: string): Check {
  const elsewhere = 'give it to the user that runs Loam, or set LOAM_DATA_DIR to another folder'
  try {
    const found = statSync(folder, { throwIfNoEntry: false })
    if (found === undefined)
      return warn('data folder', `${folder} does not exist yet`, 'the first start creates it')
    if (!found.isDirectory()) return fail('data folder', `${folder} is not a folder`, elsewhere)
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    if ((found.mode & 0o022) === 0) return ok('data folder', folder)
    return warn('data folder', `${folder} can be written by other users`, `chmod go-w ${folder}`)
  } catch (cause) {
    return fail('data folder', `${folder} cannot be used by this user: ${reasonOf(cause)}`, elsewhere)
  }
}

function checkPrivateFiles(folder: string): Check[] {
  return ['secret', 'admin-key'].flatMap((name) => {
    const file = join(folder, name)
    const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0
    return (mode & 0o077) === 0
      ? []
      : [warn('data folder', `${file} can be read by other users`, `chmod 600 ${file}`)]
  })
}

function checkSecret(config: Config): Check {
  if (config.LOAM_SECRET !== undefined) {
    const older = config.LOAM_SECRET.split(',').length - 1
    const more =
      older === 0
        ? ''
        : `; run loam secret status to see whether the ${older} after the first are still needed`
    return ok('secret', `from LOAM_SECRET${more}`)
  }
  const file = join(config.LOAM_DATA_DIR, 'secret')
  if (existsSync(file)) return ok('secret', file)
  return warn('secret', 'no secret yet', 'the first start creates it; keep a copy of it with your backups')
}

export function checkDisk(config: Config): Check {
  let folder = config.LOAM_DATA_DIR
  while (!existsSync(folder)) folder = dirname(folder)
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const detail = `${(free / GIGABYTE).toFixed(1)} GB free at ${folder}`
  const fix = 'free some space, or set LOAM_DATA_DIR to a folder on another disk'
  if (free < FAIL_BELOW) return fail('disk', detail, fix)
  return free < WARN_BELOW ? warn('disk', detail, fix) : ok('disk', detail)
}
