// Loaded before the suite: its mocks listen on this machine only.
//
// They are announced as `localhost` but would listen on every address of the
// machine, for everybody around to reach.

import net from 'node:net';

const listen = net.Server.prototype.listen;

net.Server.prototype.listen = function (...args) {
  const [first, second] = args;
  if (typeof first === 'object' && first !== null) {
    if (first.host === undefined && first.path === undefined && first.fd === undefined) {
      args[0] = { ...first, host: '127.0.0.1' };
    }
  } else if (typeof second === 'string') {
    // It says where.
  } else if (typeof first === 'function' || first === undefined) {
    args.unshift(0, '127.0.0.1');
  } else if (!Number.isNaN(Number(first))) {
    // A port; a path would not be a number.
    args.splice(1, 0, '127.0.0.1');
  }
  return listen.apply(this, args);
};
