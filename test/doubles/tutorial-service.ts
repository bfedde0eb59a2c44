import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Starts the service of the tutorial on a free port, and returns it with the settings that lead a server to it. */
export async function startTutorialService() {
  const { PATH = '' } = process.env
  const child = spawn(process.execPath, ['docs/tutorial-service.mjs'], { env: { PATH, PORT: '0' } })
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
  const url = /http:\S+/.exec(line)?.[0] ?? ''
  return {
    url,
    settings: {
      LOAM_EGRESS_ALLOW: new URL(url).host,
      LOAM_MODEL_BASE_URL: `${url}/v1`,
      LOAM_MODELS: 'tiny',
      LOAM_PROVIDER_URL_HUNTER: `${url}/hunter`,
      LOAM_PROVIDER_KEY_HUNTER: 'tutorial',
      LOAM_PROVIDER_URL_FINDYMAIL: `${url}/findymail`,
      LOAM_PROVIDER_KEY_FINDYMAIL: 'tutorial',
    },
    stop: () => void child.kill('SIGKILL'),
  }
}
