// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// @title A wallet that is a contract (ERC-1271): what its owner signs is its own. In other moods it breaks, in every way.
contract SmartWallet {
    enum Mood {
        Honest,
        Reverting,
        Endless,
        Echoing,
        Silent
    }

    error NotNow();

    address public immutable owner;
    Mood public immutable mood;

    constructor(address owner_, Mood mood_) {
        owner = owner_;
        mood = mood_;
    }

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        if (mood == Mood.Reverting) revert NotNow();
        if (mood == Mood.Echoing) {
            assembly {
                calldatacopy(0, 0, 32)
                return(0, 32)
            }
        }
        if (mood == Mood.Silent) {
            assembly {
                return(0, 0)
            }
        }
        uint256 turns;
        while (mood == Mood.Endless) turns++;
        (address signer, ECDSA.RecoverError problem,) = ECDSA.tryRecover(digest, signature);
        return problem == ECDSA.RecoverError.NoError && signer == owner ? this.isValidSignature.selector : bytes4(0);
    }
}
