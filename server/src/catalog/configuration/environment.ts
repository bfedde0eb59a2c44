/** The resources of a workflow beside its own chain. */
export type ConfigurationEnvironment = {
  envKeys: ReadonlySet<string>
  /** Returns the number of the organisation's connections to a provider, or of those with a given name or id. */
  connectionsOf: (provider: string, name?: string) => number
  /** Returns true if the installation has a key for a provider. */
  hasKey: (provider: string) => boolean
  /** Returns true if the installation configures the provider's address. */
  hasAddress: (provider: string) => boolean
}
