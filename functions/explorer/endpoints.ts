/** The endpoints that the key may call. */
import { el } from './dom.ts'
import type { Endpoint } from './service.ts'

export function endpointList(endpoints: Endpoint[], choose: (endpoint: Endpoint) => void) {
  const buttons = new Map(endpoints.map(endpoint => [endpoint.name, entry(endpoint, choose)]))
  const element = el(
    'nav',
    { 'aria-label': 'Endpoints' },
    el('h2', {}, 'Endpoints'),
    el('ul', {}, ...[...buttons.values()].map(button => el('li', {}, button))),
  )
  const mark = (chosen: string) => {
    for (const [name, button] of buttons)
      if (name === chosen) button.setAttribute('aria-current', 'true')
      else button.removeAttribute('aria-current')
  }
  return { element, mark }
}

function entry(endpoint: Endpoint, choose: (endpoint: Endpoint) => void): HTMLButtonElement {
  return el(
    'button',
    { type: 'button', onclick: () => choose(endpoint) },
    el('strong', {}, endpoint.name),
    el('span', {}, endpoint.description),
  )
}
