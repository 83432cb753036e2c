// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @dev A collection that reverts a whole batch for one bad token, as many do.
contract StrictReveal {
    error Cursed(uint256 tokenId);
    error NotTheKeeper(address account);
    error Missing(uint256 tokenId);

    event BatchMinted(
        address indexed minter,
        address indexed promptAuthor,
        uint256 indexed startTokenId,
        uint256 quantity,
        uint256 totalPaid
    );

    address public immutable keeper;
    uint256 public nextTokenId = 1;
    mapping(uint256 tokenId => address) private _authors;
    mapping(uint256 tokenId => string) private _uris;
    mapping(uint256 tokenId => bool) private _cursed;

    constructor(address keeper_) {
        keeper = keeper_;
    }

    function mint(address promptAuthor, uint256 quantity) external payable {
        for (uint256 i = 0; i < quantity; ++i) _authors[nextTokenId + i] = promptAuthor;
        emit BatchMinted(msg.sender, promptAuthor, nextTokenId, quantity, msg.value);
        nextTokenId += quantity;
    }

    function curse(uint256 tokenId) external {
        _cursed[tokenId] = true;
    }

    function revealTokens(uint256[] calldata tokenIds, string[] calldata uris) external {
        if (msg.sender != keeper) revert NotTheKeeper(msg.sender);
        for (uint256 i = 0; i < tokenIds.length; ++i) {
            if (_cursed[tokenIds[i]]) revert Cursed(tokenIds[i]);
            _uris[tokenIds[i]] = uris[i];
        }
    }

    function tokenPromptAuthor(uint256 tokenId) external view returns (address) {
        if (_authors[tokenId] == address(0)) revert Missing(tokenId);
        return _authors[tokenId];
    }

    function tokenURI(uint256 tokenId) external view returns (string memory) {
        if (_authors[tokenId] == address(0)) revert Missing(tokenId);
        return _uris[tokenId];
    }
}
