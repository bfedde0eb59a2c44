import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { announceServer, readServer, withdrawServer } from './running-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'loam-running-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const file = join(folder, 'server.json')
const url = 'http://127.0.0.1:1234'

it('a server writes its address and its non-secret settings to a file, readable only by its owner', () => {
  announceServer(folder, url, {
    LOAM_EGRESS_ALLOW: '10.0.0.0/8',
    LOAM_PROVIDER_URL_HUNTER: 'http://127.0.0.1:9',
    LOAM_PROVIDER_KEY_HUNTER: 'hidden',
    LOAM_SECRET: 'hidden',
    DATABASE_URL: 'postgres://hidden',
    LOAM_S3_SECRET_ACCESS_KEY: 'hidden',
    HOME: '/somewhere',
  })
  expect(readServer(folder)).toEqual({
    url,
    pid: process.pid,
    settings: { LOAM_EGRESS_ALLOW: '10.0.0.0/8', LOAM_PROVIDER_URL_HUNTER: 'http://127.0.0.1:9' },
  })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  withdrawServer(folder)
  expect(readServer(folder)).toBeNull()
})

it('the file of a server that was killed is ignored', () => {
  writeFileSync(file, JSON.stringify({ url, pid: 2 ** 22 + 1, settings: {} }))
  expect(readServer(folder)).toBeNull()
})
