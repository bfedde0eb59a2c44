/** The time zones to choose from. Browsers omit UTC from their list, but it is the default of schedules. */
export const TIME_ZONES: readonly string[] = [
  'UTC',
  ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC'),
]
