import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { readConfig } from '#server/lib/config/config.ts'
import { AppError } from '#server/lib/errors.ts'
import { Loam } from '../../sdk/src/index.ts'
import { serverAddress } from '../server-address.ts'
import { commandEnvironment } from '../session.ts'
import { readSecret, type Terminal } from '../terminal.ts'

export type TargetFlags = { url?: string | undefined; key?: string | undefined }

/** Adds the options that name a server and a key. */
export function addTarget(command: Command): Command {
  return command
    .option('--url <url>', 'address of the server; LOAM_URL, else the server of this machine')
    .option('--key <key>', 'API key, or - to read it from standard input; LOAM_API_KEY, else its admin-key')
}

/** Returns a client of the server that flags and environment name, else of the server of this machine. */
export async function openClient({ url, key }: TargetFlags, terminal: Terminal): Promise<Loam> {
  const { env } = terminal
  const given = key === undefined ? env['LOAM_API_KEY'] : await readSecret(key, terminal)
  const named = url ?? env['LOAM_URL']
  if (named && !given) throw keyIsMissing('--url and LOAM_URL name a server: pass --key or set LOAM_API_KEY')
  const config = readConfig(commandEnvironment(terminal))
  return new Loam({
    apiKey: given || readAdminKey(config.LOAM_DATA_DIR),
    baseURL: named || serverAddress(config),
    lossless: true,
  })
}

function readAdminKey(dataFolder: string): string {
  const path = join(dataFolder, 'admin-key')
  if (!existsSync(path)) throw keyIsMissing('pass --key or set LOAM_API_KEY')
  return readFileSync(path, 'utf8').trim()
}

const keyIsMissing = (advice: string) => new AppError('Unauthorized', `There is no API key: ${advice}`)
