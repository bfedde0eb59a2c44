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
 * Tells settings that commands need and that hold no secret, by their names. Those of single sign-on are the server's alone: without
 * their secret they would be refused.
 */
const isOpen = (name: string) =>
  (Object.hasOwn(SETTINGS, name) || isProviderSetting(name)) &&
  !/KEY|SECRET|DATABASE_URL|SMTP_URL|OIDC/.test(name)

const fileIn = (dataDir: string) => join(dataDir, 'server.json')

/** Leaves word in the data folder for commands: where this server answers, and what it was told that is no secret. */
export function announceServer(dataDir: string, url: string, env: Environment): void {
  const settings = Object.fromEntries(
    Object.entries(env).flatMap(([name, text]) => (text && isOpen(name) ? [[name, text]] : [])),
  )
  writePrivateFile(fileIn(dataDir), `${JSON.stringify({ url, pid: process.pid, settings })}\n`)
}

export function withdrawServer(dataDir: string): void {
  if (readServer(dataDir)?.pid === process.pid) rmSync(fileIn(dataDir), { force: true })
}

/** The server that runs on a data folder, as it left word; null when none does. */
export function readServer(dataDir: string): RunningServer | null {
  const file = fileIn(dataDir)
  if (!existsSync(file)) return null
  const parsed = Running.safeParse(JSON.parse(readFileSync(file, 'utf8')))
  return parsed.success && isAlive(parsed.data.pid) ? parsed.data : null
}
