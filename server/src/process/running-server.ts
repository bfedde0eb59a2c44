import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { SETTINGS } from '../lib/config/config.ts'
import { isProviderSetting } from '../lib/config/provider-settings.ts'
import { isAlive } from '../lib/is-alive.ts'
import { writePrivateFile } from './workspace.ts'

const Running = z.object({ url: z.string(), pid: z.number(), settings: z.record(z.string(), z.string()) })
export type RunningServer = z.infer<typeof Running>

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Returns true for settings that commands need and that hold no secret. Those of single sign-on are left out:
 * only the server needs them, and without their secret they would be refused.
 */
const isOpen = (name: string) =>
  (Object.hasOwn(SETTINGS, name) || isProviderSetting(name)) &&
  !/KEY|SECRET|DATABASE_URL|SMTP_URL|OIDC/.test(name)

const fileIn = (dataDir: string) => join(dataDir, 'server.json')

/**
 * Writes a file in the data folder for commands: the address of this server and its settings that hold no
 * secret.
 */
export function announceServer(dataDir: string, url: string, env: Environment): void {
  const settings = Object.fromEntries(
    Object.entries(env).flatMap(([name, text]) => (text && isOpen(name) ? [[name, text]] : [])),
  )
  writePrivateFile(fileIn(dataDir), `${JSON.stringify({ url, pid: process.pid, settings })}\n`)
}

export function withdrawServer(dataDir: string): void {
  if (readServer(dataDir)?.pid === process.pid) rmSync(fileIn(dataDir), { force: true })
}

/** Returns the server that runs on a data folder, from its file, or null if none runs. */
export function readServer(dataDir: string): RunningServer | null {
  const file = fileIn(dataDir)
  if (!existsSync(file)) return null
  const parsed = Running.safeParse(JSON.parse(readFileSync(file, 'utf8')))
  return parsed.success && isAlive(parsed.data.pid) ? parsed.data : null
}
