import { describe, expect, it } from 'vitest'
import { ConfigError, readConfig } from './config.ts'

describe('D57, D66: settings by provider', () => {
  it('are known by the id of the provider in lower case', () => {
    const config = readConfig({
      LOAM_PROVIDER_URL_GREENHOUSE: 'http://127.0.0.1:4000/',
      LOAM_PROVIDER_URL_GOOGLE_SHEETS: 'https://sheets.example.com/base//',
      LOAM_PROVIDER_URL_X: '',
      LOAM_PROVIDER_KEY_HUNTER: ' secret\n',
    })
    expect([...config.providerUrls]).toEqual([
      ['greenhouse', 'http://127.0.0.1:4000'],
      ['google_sheets', 'https://sheets.example.com/base'],
    ])
    expect([...config.providerKeys]).toEqual([['hunter', 'secret']])
  })

  it.each([
    ['LOAM_PROVIDER_URL_LEVER', 'api.lever.co', 'must be a URL that starts with http:// or https://'],
    ['LOAM_PROVIDER_URL_LEVER', 'ftp://api.lever.co', 'must be a URL that starts with http:// or https://'],
    ['LOAM_PROVIDER_URL_LEVER', 'https://api.lever.co/?x=1', 'must be a base URL, without ? and #'],
    ['LOAM_PROVIDER_URL_lever', 'https://api.lever.co', 'must end with the id of a provider in capitals'],
    ['LOAM_PROVIDER_KEY_', 'secret-key-7', 'must end with the id of a provider in capitals'],
  ])('%s=%s is one line that says what is wrong', (name, text, message) => {
    const read = () => readConfig({ [name]: text, PORT: 'x' })
    expect(read).toThrow(ConfigError)
    expect(read).toThrow(`${name}: ${message}`)
    expect(read).toThrow('PORT: must be a whole number')
    expect(read).not.toThrow('secret-key-7')
  })
})
