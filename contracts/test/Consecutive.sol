// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721Consecutive} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721Consecutive.sol";

/// @title A collection whose first tokens come by ERC-2309, in one event of its deployment; later ones come one by one.
contract Consecutive is ERC721Consecutive {
    uint256 private _nextTokenId;

    constructor(address to, uint96 quantity) ERC721("Consecutive", "ROW") {
        _mintConsecutive(to, quantity);
        _nextTokenId = quantity;
    }

    function mint(address to) external {
        _mint(to, _nextTokenId++);
    }
}
